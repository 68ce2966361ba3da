internal import CacheDomain

/// Keys that something is wrong with: how many there are, and the first of them.
public struct KeyList: Sendable, Hashable {
  /// How many messages name.
  private static let named = 3

  /// How many keys there are.
  public let count: Int
  /// The first of them.
  public let first: [String]

  /// A list of `count` keys, which begins with `first`; by default of none.
  public init(count: Int = 0, first: [String] = []) {
    self.count = count
    self.first = first
  }

  /// The error that the entries are what they should not be, by the first of their keys; `nil` where there are none.
  ///
  /// It reads like "2 entries of sqlite are damaged, and not copied (a/1, a/2)".
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
