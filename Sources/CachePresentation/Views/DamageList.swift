public import CacheDomain

/// What of a store could not be read.
public struct DamageList: Sendable, Hashable {
  /// The entries whose keys are known.
  public let entries: KeyList
  /// The number of places where it is not known which entries there were.
  public let placeCount: Int
  /// What is known of the first of them, each in one line. Where a store is damaged and all can be read, it says how.
  public let places: [String]

  /// A list with the given fields; by default of nothing.
  public init(entries: KeyList = KeyList(), places: [String] = [], placeCount: Int = 0) {
    (self.entries, self.places, self.placeCount) = (entries, places, placeCount)
  }

  /// The number of entries and places together.
  public var count: Int { entries.count + placeCount }

  /// The error that all this could not be read; `nil` where there is nothing.
  ///
  /// It reads like "2 entries of sqlite are damaged, and not exported (a/1, a/2)", or "1 part of plist is damaged,
  /// and not exported (the entries of cities/ cannot be listed: ...)", or "sqlite is damaged, but all its entries can be
  /// read (...)".
  ///
  /// - Parameter consequence: what was not done for it, such as "exported"; `nil` where that goes without saying.
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
