internal import FetchVocabulary
internal import CachePresentation
internal import ResponseStorage

extension StoreDamage {
  /// The number of entries and places.
  var count: Int { entries.count + placeCount }

  /// The error that these parts could not be read; `nil` if there are none.
  ///
  /// It reads like "2 entries of ENGINE are damaged, and not exported (a/1, a/2)", or "1 part of ENGINE is damaged, and
  /// not exported (the entries of cities/ cannot be listed: ...)", or "ENGINE is damaged, but all its entries can be
  /// read (...)".
  ///
  /// - Parameter consequence: what was not done, such as "exported"; `nil` to leave it out.
  func failure(of backend: String, not consequence: String? = nil) -> CacheError? {
    let hint = "see: cachectl --backend \(backend) verify"
    let ending = consequence.map { ", and not \($0)" } ?? ""
    guard let first = places.first else {
      return entries.failure("of \(backend)", ("is", "are"), "damaged\(ending)", hint: hint)
    }
    let repair = "repair it with: cachectl --backend \(backend) verify --repair"
    if count == 0 {
      return CacheError(.damaged, "\(backend) is damaged, but all its entries can be read (\(first))", hint: repair)
    }
    let parts = NumberText.count(placeCount, "part", "parts") + " of \(backend)"
    let known = entries.count > 0 ? " and \(NumberText.count(entries.count, "entry", "entries"))" : ""
    let verb = count == 1 ? "is" : "are"
    let more = placeCount > 1 ? "; ..." : ""
    return CacheError(.damaged, "\(parts)\(known) \(verb) damaged\(ending) (\(first)\(more))", hint: repair)
  }
}

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
}
