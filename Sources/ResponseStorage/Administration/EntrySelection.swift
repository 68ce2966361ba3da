public import StorageSPI

/// Which entries of a store are meant: those that meet every condition given.
public struct EntrySelection: Sendable, Hashable {
  /// The namespace they are in. Where it is `nil` the leases of flights are left out: they are no entries of the user's,
  /// and only to be had by the name of their namespace.
  public var namespace: String?
  /// What their keys begin with.
  public var prefix: String?
  /// What their whole keys match.
  public var pattern: GlobPattern?
  /// How they stand now.
  public var state: EntryState?
  /// How long ago they must have been stored at least.
  public var minimumAge: Duration?

  /// The selection with the given conditions; without any, all entries.
  public init(
    namespace: String? = nil, prefix: String? = nil, pattern: GlobPattern? = nil, state: EntryState? = nil,
    minimumAge: Duration? = nil
  ) {
    self.namespace = namespace
    self.prefix = prefix
    self.pattern = pattern
    self.state = state
    self.minimumAge = minimumAge
  }

  /// What the keys of all selected entries begin with; `nil` where the conditions exclude each other.
  var keyPrefix: String? {
    let prefixes = [namespace.map { $0 + "/" } ?? "", prefix ?? "", pattern?.prefix ?? ""]
    let longest = prefixes.max { $0.utf8.count < $1.utf8.count } ?? ""
    return prefixes.allSatisfy(longest.hasPrefix) ? longest : nil
  }

  /// Whether an entry, whose key begins with `keyPrefix`, is selected at `now`.
  func contains(_ entry: EntrySummary, at now: Timestamp) -> Bool {
    if namespace == nil, entry.key.text.hasPrefix(Lease.keyPrefix) { return false }
    if let pattern, !pattern.matches(entry.key.text) { return false }
    if let state, entry.metadata.state(at: now) != state { return false }
    if let minimumAge, now.duration(since: entry.metadata.storedAt) < minimumAge { return false }
    return true
  }
}
