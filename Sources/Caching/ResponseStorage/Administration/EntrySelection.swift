public import StorageSPI

/// Selects the entries of a store that meet every given condition.
public struct EntrySelection: Sendable, Hashable {
  /// The namespace of the entries. `nil` selects all namespaces but the one for leases of flights: leases are not the
  /// user's entries, and must be asked for by name.
  public var namespace: String?
  /// The prefix of their keys.
  public var prefix: String?
  /// A pattern that their whole keys match.
  public var pattern: GlobPattern?
  /// Their state now.
  public var state: EntryState?
  /// The shortest time since they were stored.
  public var minimumAge: Duration?

  /// Creates a selection; without conditions it selects all entries.
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

  /// The prefix that the keys of all selected entries share; `nil` if the conditions exclude each other.
  var keyPrefix: String? {
    let prefixes = [namespace.map { $0 + "/" } ?? "", prefix ?? "", pattern?.prefix ?? ""]
    let longest = prefixes.max { $0.utf8.count < $1.utf8.count } ?? ""
    return prefixes.allSatisfy(longest.hasPrefix) ? longest : nil
  }

  /// Whether an entry whose key begins with `keyPrefix` is selected at `now`.
  func contains(_ entry: EntrySummary, at now: Timestamp) -> Bool {
    if namespace == nil, entry.key.text.hasPrefix(Lease.keyPrefix) { return false }
    if let pattern, !pattern.matches(entry.key.text) { return false }
    if let state, entry.metadata.state(at: now) != state { return false }
    if let minimumAge, now.duration(since: entry.metadata.storedAt) < minimumAge { return false }
    return true
  }
}
