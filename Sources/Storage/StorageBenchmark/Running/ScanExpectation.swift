internal import StorageSPI

/// What a scan must list: every entry that was committed before it began, in order, and no entry that was never
/// written.
struct ScanExpectation {
  private let check: EntryCheck
  private let first: Int
  private let limit: Int
  /// The committed versions, when the scan began, of the entries that it may list.
  private let floors: [UInt32]

  init(_ check: EntryCheck, first: Int, limit: Int) {
    (self.check, self.first, self.limit) = (check, first, limit)
    floors = (first..<max(first, min(first + limit, check.ledger.capacity))).map { check.ledger.committed($0) }
  }

  /// The fault in the list; `nil` if there is none.
  func fault(_ summaries: [EntrySummary]) -> WrongAnswer? {
    guard summaries.count <= limit else {
      return WrongAnswer(.count, "\(summaries.count) entries were listed where \(limit) were asked for")
    }
    var next = first
    for summary in summaries {
      // The keys of other shares follow the last key of this one.
      guard let number = check.keys.number(of: summary.key), number < check.ledger.capacity else { break }
      guard number >= next else { return WrongAnswer(.order, "entry \(summary.key) was listed out of order") }
      if let lost = lost(next..<number) { return lost }
      if let fault = check.fault(summary, number, floor: floor(number)) { return fault }
      next = number + 1
    }
    return lost(next..<max(next, min(first + limit, check.ledger.capacity)), unless: summaries.count == limit)
  }

  private func lost(_ numbers: Range<Int>, unless isFull: Bool = false) -> WrongAnswer? {
    guard !isFull, let number = numbers.first(where: { floor($0) > 0 }) else { return nil }
    return WrongAnswer(.lost, "\(check.name(number)) was not listed, although it was written")
  }

  /// Entries beyond the recorded ones need not exist.
  private func floor(_ number: Int) -> UInt32 { number - first < floors.count ? floors[number - first] : 0 }
}
