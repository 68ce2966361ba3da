public import CacheDomain

/// The parts of a store that could not be read.
public struct DamageList: Sendable, Hashable {
  /// The entries whose keys are known.
  public let entries: KeyList
  /// The number of places whose entries are unknown.
  public let placeCount: Int
  /// Descriptions of the first places, each in one line. If a store is damaged but fully readable, the place says how.
  public let places: [String]

  /// A list of damage; empty by default.
  public init(entries: KeyList = KeyList(), places: [String] = [], placeCount: Int = 0) {
    (self.entries, self.places, self.placeCount) = (entries, places, placeCount)
  }

  /// The number of entries and places.
  public var count: Int { entries.count + placeCount }

  /// The error that these parts could not be read; `nil` if there are none.
  ///
  /// It reads like "2 entries of ENGINE are damaged, and not exported (a/1, a/2)", or "1 part of ENGINE is damaged, and
  /// not exported (the entries of cities/ cannot be listed: ...)", or "ENGINE is damaged, but all its entries can be
  /// read (...)".
  ///
  /// - Parameter consequence: what was not done, such as "exported"; `nil` to leave it out.
  public func failure(of backend: String, not consequence: String? = nil) -> CacheError? {
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
