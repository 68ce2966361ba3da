import EngineAPI

/// Commits one batch after another: a line "A NUMBER" after each.
///
/// - `seed`, `lane`, `from`, `batches`: which batches.
/// - `after`: how many batches the store has had; by default those before `from`.
/// - `rounds`: how often to commit all of them, one round after the other; by default once.
/// - `compact`: after every so many batches the store is given something that has expired, and compacted: "C".
struct Writer {
  private let engine: any StorageEngine
  private let workload: Workload
  private let numbers: Range<Int>
  private let before: Int
  private let rounds: Int
  private let compactEvery: Int

  init(_ engine: any StorageEngine, _ arguments: Arguments) throws(CacheError) {
    self.engine = engine
    workload = try Workload(arguments, lane: try arguments.number("lane", default: 0))
    let from = try arguments.number("from", default: 0)
    numbers = from..<(from + (try arguments.number("batches", default: 1_000_000)))
    before = try arguments.number("after", default: from)
    rounds = try arguments.number("rounds", default: 1)
    compactEvery = try arguments.number("compact", default: .max)
  }

  func run() async throws(CacheError) {
    var state = workload.state(after: before)
    for number in repeatElement(numbers, count: rounds).joined() {
      try await engine.apply(try workload.batch(number, changing: &state))
      Line.write("A \(number)")
      if number % compactEvery == compactEvery - 1 { try await compact(number) }
    }
  }

  private func compact(_ number: Int) async throws(CacheError) {
    var batch = WriteBatch()
    let past = Timestamp(milliseconds: 1)
    let metadata = EntryMetadata(
      storedAt: past, freshUntil: past, retainUntil: past, contentType: "text/plain", checksum: UInt64(number))
    for index in 0..<4 {
      let key = try CacheKey("\(Workload.expiredNamespace)/v1/lane=\(workload.lane)/number=\(number)/index=\(index)")
      batch.put(key, payload: workload.payload(index, number), metadata: metadata)
    }
    try await engine.apply(batch)
    try await engine.compact()
    Line.write("C \(number)")
  }
}
