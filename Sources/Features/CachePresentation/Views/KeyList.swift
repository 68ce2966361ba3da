internal import CacheDomain

/// The keys of entries with a problem: their number, and the first of them.
public struct KeyList: Sendable, Hashable {
  /// The number of keys to name in a message.
  private static let named = 3

  /// The number of keys.
  public let count: Int
  /// The first keys.
  public let first: [String]

  /// A list of `count` keys that begins with `first`; empty by default.
  public init(count: Int = 0, first: [String] = []) {
    self.count = count
    self.first = first
  }

  /// The error that the entries have a problem, with the first of their keys; `nil` if there are none.
  ///
  /// It reads like "2 entries of ENGINE are damaged, and not copied (a/1, a/2)".
  func failure(
    _ whose: String, _ verb: (singular: String, plural: String), _ what: String, hint: String
  ) -> CacheError? {
    guard count > 0 else { return nil }
    let names = first.prefix(Self.named).joined(separator: ", ") + (count > Self.named ? ", ..." : "")
    let entries = NumberText.count(count, "entry", "entries")
    return CacheError(
      .damaged, "\(entries) \(whose) \(count == 1 ? verb.singular : verb.plural) \(what) (\(names))", hint: hint)
  }
}
