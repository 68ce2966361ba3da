internal import FetchVocabulary
internal import CachePresentation
internal import CacheCore

extension KeySample {
  /// The number of keys to name in a message.
  private static let named = 3

  /// The error that the entries have a problem, with the first of their keys; `nil` if there are none.
  ///
  /// It reads like "2 entries of ENGINE are damaged, and not copied (a/1, a/2)".
  func failure(
    _ whose: String, _ verb: (singular: String, plural: String), _ what: String, hint: String
  ) -> CacheError? {
    guard count > 0 else { return nil }
    let names = first.prefix(Self.named).map(\.text).joined(separator: ", ") + (count > Self.named ? ", ..." : "")
    let entries = NumberText.count(count, "entry", "entries")
    return CacheError(
      .damaged, "\(entries) \(whose) \(count == 1 ? verb.singular : verb.plural) \(what) (\(names))", hint: hint)
  }

  /// The error that the entries of `backend` are damaged, such as "2 entries of ENGINE are damaged, and not exported (a/1,
  /// a/2)"; `nil` if there are none.
  func damage(of backend: String, not consequence: String) -> CacheError? {
    failure(
      "of \(backend)", ("is", "are"), "damaged, and not \(consequence)",
      hint: "see: cachectl --backend \(backend) verify --repair")
  }
}
