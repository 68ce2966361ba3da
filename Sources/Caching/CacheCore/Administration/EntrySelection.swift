public import EngineAPI

/// Selects the entries of a store that meet every given condition.
public struct EntrySelection: Sendable, Hashable {
  /// The namespace of the entries. `nil` selects all namespaces but the one for leases of requests: leases are not the
  /// user's entries, and only their name selects them.
  public var namespace: String?
  /// The prefix of their keys.
  public var prefix: String?
  /// A pattern that their whole keys match, or the URLs in them (`StoredURL`).
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
    let prefixes = [namespace.map { $0 + "/" } ?? "", prefix ?? "", pattern?.keyPrefix ?? ""]
    let longest = prefixes.max { $0.utf8.count < $1.utf8.count } ?? ""
    return prefixes.allSatisfy(longest.hasPrefix) ? longest : nil
  }

  /// A scan that meets all selected entries after `position`; `nil` if there cannot be any.
  func request(after position: String? = nil, includesPayloads: Bool = false) -> ScanRequest? {
    keyPrefix.map { ScanRequest(prefix: $0, after: position, includesPayloads: includesPayloads) }
  }

  /// Whether an entry whose key begins with `keyPrefix` is selected at `now`.
  func contains(_ entry: ScannedEntry, at now: Timestamp) -> Bool {
    if namespace == nil, entry.key.text.hasPrefix(Lease.keyPrefix) { return false }
    if let pattern, !pattern.matches(key: entry.key.text) { return false }
    if let state, entry.metadata.state(at: now) != state { return false }
    if let minimumAge, now.duration(since: entry.metadata.storedAt) < minimumAge { return false }
    return true
  }
}

/// A pattern for keys: `*` matches any text, including slashes and no text at all; every other character matches
/// itself.
public struct GlobPattern: Sendable, Hashable {
  /// The pattern as written.
  public let text: String
  /// The texts before, between and after the stars.
  private let parts: [String]

  /// Creates the pattern written as `text`.
  public init(_ text: String) {
    self.text = text
    parts = text.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false).map {
      String(Substring($0))
    }
  }

  /// The prefix of all matching texts: the text before the first star.
  private var prefix: String { parts.first ?? "" }

  /// The prefix of the keys of all entries that are matched by their keys or URLs.
  var keyPrefix: String {
    let schemes = ["http://", "https://"]
    if schemes.contains(where: prefix.hasPrefix) { return StoredURL.keyPrefix(ofBeginning: prefix) }
    return schemes.contains { $0.hasPrefix(prefix) } ? "" : prefix
  }

  /// Whether `key` matches, or the URL in it.
  func matches(key: String) -> Bool { matches(key) || StoredURL(key: key).map { matches($0.text) } ?? false }

  /// Whether the whole of `text` matches. Cost: linear, unless parts of the text repeat.
  func matches(_ text: String) -> Bool {
    guard text.utf8.starts(with: prefix.utf8), let last = parts.last?.utf8 else { return false }
    guard parts.count > 1 else { return text.utf8.count == prefix.utf8.count }
    var rest = text.utf8.dropFirst(prefix.utf8.count)
    // Match each part as early as possible: that leaves the most room for the parts after it.
    for part in parts.dropFirst().dropLast() {
      while !rest.starts(with: part.utf8) {
        if rest.isEmpty { return false }
        rest = rest.dropFirst()
      }
      rest = rest.dropFirst(part.utf8.count)
    }
    return rest.count >= last.count && rest.suffix(last.count).elementsEqual(last)
  }
}
