import TestStorage
import EngineConformance
import EngineAPI
import Testing

@testable import CacheCore

/// A sweep visits the expected entries, in an order that jumps, and survives its process.
struct EvictionSweepTests {
  /// A store of keys alone.
  private struct Keys {
    var sorted: [CacheKey]

    init(_ numbers: some Sequence<Int>) throws { sorted = try numbers.map(Self.key).sorted() }

    static func key(_ number: Int) throws -> CacheKey {
      let digits = String(number)
      return try CacheKey("k/" + String(repeating: "0", count: 7 - digits.count) + digits)
    }

    func page(_ request: ScanRequest) -> ScanPage {
      let start = request.position.map { place(after: CacheKey(trusting: $0.utf8.span)) } ?? 0
      let keys = sorted[start...].prefix(request.limit)
      let entries = keys.map { ScannedEntry(key: $0, metadata: Self.metadata, payloadBytes: 0) }
      return ScanPage(entries, next: keys.endIndex < sorted.endIndex ? keys.last?.text : nil)
    }

    static let metadata = EntryMetadata(storedAt: .distantFuture)

    private func place(after key: CacheKey) -> Int {
      var (low, high) = (0, sorted.count)
      while low < high {
        let middle = (low + high) / 2
        if sorted[middle] <= key { low = middle + 1 } else { high = middle }
      }
      return low
    }

    mutating func insert(_ key: CacheKey) {
      let place = self.place(after: key)
      if place == 0 || sorted[place - 1] != key { sorted.insert(key, at: place) }
    }
  }

  /// Visits the next range, and returns the visited keys.
  private static func visit(_ sweep: inout EvictionSweep, _ keys: Keys) -> [CacheKey] {
    let stretch = sweep.nextStretch()
    let page = keys.page(sweep.request(for: stretch))
    return page.entries.prefix(sweep.note(page, in: stretch)).map(\.key)
  }

  /// An engine without order returns positions that are not keys, and pages that may be empty.
  @Test func aStoreWithoutOrderIsOneStretch() throws {
    let keys = try Keys(0..<100).sorted.shuffled()
    var sweep = EvictionSweep(at: try Keys.key(50), isOrdered: false)
    var visited: [CacheKey] = []
    while visited.count < 3 * keys.count {
      let stretch = sweep.nextStretch()
      let start = try sweep.request(for: stretch).position.map { try #require(Int($0.dropFirst())) } ?? 0
      // Every other page is empty.
      let page = keys[(start / 2)...].prefix(start.isMultiple(of: 2) ? EvictionSweep.pageSize : 0)
      let entries = page.map { ScannedEntry(key: $0, metadata: Keys.metadata, payloadBytes: 0) }
      let next = start.isMultiple(of: 2) ? 2 * page.endIndex + 1 : start - 1
      let isEnd = start.isMultiple(of: 2) && page.endIndex == keys.count
      visited += entries.prefix(sweep.note(ScanPage(entries, next: isEnd ? nil : "#\(next)"), in: stretch)).map(\.key)
      #expect(sweep.stretches.count == 1)
    }
    #expect(visited == keys + keys + keys && sweep.rounds == 2)
  }

  @Test(arguments: [0, 1, 15, 16, 17, 100, 1_000, 1_024, 20_000], [0, 37])
  func eachRoundVisitsEachEntryOnce(count: Int, start: Int) throws {
    let keys = try Keys(0..<count)
    var sweep = EvictionSweep(at: try Keys.key(start))
    for round in 0..<4 {
      var visited: [CacheKey] = []
      while true {
        var next = sweep
        let page = Self.visit(&next, keys)
        guard next.rounds == round else { break }
        sweep = next
        visited += page
      }
      #expect(visited.sorted() == keys.sorted, "round \(round)")
      #expect(sweep.stretches.reduce(0) { $0 + $1.marks.count } <= EvictionSweep.maximumMarks)
    }
    let most = min(EvictionSweep.maximumStretches, max(1, count / EvictionSweep.pageSize / 4))
    #expect(sweep.stretches.count <= most && sweep.stretches.count >= most - 1)
  }

  /// Within a short time, the sweep visits entries in all parts of the store.
  @Test(arguments: [2_000, 30_000]) func visitsAreSpreadOverTheStore(count: Int) throws {
    let keys = try Keys(0..<count)
    var sweep = EvictionSweep(at: try Keys.key(0))
    while sweep.rounds < 2 { _ = Self.visit(&sweep, keys) }
    for _ in 0..<20 {
      // As many pages as one eviction takes, six, and twice as many.
      for pages in [6, 12] {
        let places = try (0..<pages).flatMap { _ in Self.visit(&sweep, keys) }.map { key in
          try #require(Int(key.text.dropFirst(2)))
        }
        let halves = (places.count { $0 < count / 2 }, places.count { $0 >= count / 2 })
        #expect(max(halves.0, halves.1) <= pages * EvictionSweep.pageSize * 3 / 4, "\(halves)")
      }
    }
  }

  @Test(arguments: UInt64(1)...6) func entriesThatStayAreVisitedHoweverTheOthersChange(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var keys = try Keys((0..<3_000).map { $0 * 7 })
    let staying = Set(keys.sorted.filter { _ in Int.random(in: 0..<4, using: &generator) == 0 })
    var sweep = EvictionSweep(at: try Keys.key(Int.random(in: 0..<21_000, using: &generator)))
    var (visited, visits) = (Set<CacheKey>(), 0)
    var round = 0
    while round < 5 {
      let page = Self.visit(&sweep, keys)
      if sweep.rounds > round {
        #expect(visited.isSuperset(of: staying), "seed \(seed), round \(round)")
        (visited, round) = ([], sweep.rounds)
      }
      visited.formUnion(page)
      visits += 1
      try #require(visits < 20_000, "seed \(seed): a round does not end")
      for _ in 0..<6 {
        let place = Int.random(in: 0..<keys.sorted.count, using: &generator)
        if !staying.contains(keys.sorted[place]) { keys.sorted.remove(at: place) }
        // Now everywhere, now at the end.
        let number = Int.random(in: (visits % 100 < 50 ? 0 : 20_900)..<21_000, using: &generator)
        keys.insert(try Keys.key(number))
      }
      guard visits.isMultiple(of: 97) else { continue }
      let text = sweep.text
      #expect(EvictionSweep(text: text)?.text == text, "seed \(seed)")
    }
  }

  @Test func aStretchThatCannotBeListedIsPassedOver() throws {
    let keys = try Keys(0..<2_000)
    var sweep = EvictionSweep(at: try Keys.key(1_000))
    var visited: Set<CacheKey> = []
    while sweep.rounds < 2 {
      let stretch = sweep.nextStretch()
      let found = keys.page(sweep.request(for: stretch))
      let page = found.entries.contains { $0.key.text == "k/0000500" } ? ScanPage() : found
      visited.formUnion(page.entries.prefix(sweep.note(page, in: stretch)).map(\.key))
    }
    #expect(visited.isSuperset(of: try (1_001..<2_000).map(Keys.key)))
  }

  /// Whether a text is damaged is known from its checksum in the file: see `UseTableTests`.
  @Test func aTextComesBack() throws {
    let keys = try Keys(0..<3_000)
    var sweep = EvictionSweep(at: try Keys.key(5))
    for _ in 0..<400 { _ = Self.visit(&sweep, keys) }
    let again = try #require(EvictionSweep(text: sweep.text))
    #expect(again.stretches == sweep.stretches && again.turn == sweep.turn && again.spacing == sweep.spacing)
  }

  @Test(arguments: ["", "\n", "sweep-1 0 16\n", "sweep-2 0 16\n. 0 - -\n", "sweep-1 x 16\n. 0 - -\n", "-", "é\n"])
  func aTextThatIsNotASweepIsRefused(text: String) throws { #expect(EvictionSweep(text: text) == nil) }

  @Test func placesOfLongKeysAreNotKept() throws {
    let keys = try (100..<130).map { try CacheKey("k/\($0)" + String(repeating: "x", count: 16_000)) }
    let stretches = zip([nil] + keys.map(Optional.some), keys.map(Optional.some) + [nil]).map {
      EvictionSweep.Stretch(position: $0?.text, end: $1)
    }
    #expect(EvictionSweep(stretches: stretches, turn: 0, spacing: 16).text.isEmpty)
  }
}
