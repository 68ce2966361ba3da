internal import StorageSPI

/// Operations that write.
extension Worker {
  /// An entry that only this worker is writing.
  private struct Claim {
    let number: Int
    let version: UInt32
  }

  /// Stores this worker's part of all entries.
  mutating func runLoad() async throws(BenchmarkFailure) {
    while true {
      let positions = job.takeEntries()
      guard !positions.isEmpty else { return }
      if Task.isCancelled { throw .cancelled }
      try await load(positions)
    }
  }

  /// Stores new values under the keys of `count` entries, in one batch.
  mutating func update(_ count: Int) async throws(BenchmarkFailure) {
    var claims: [Claim] = []
    for _ in 0..<count {
      if let claim = claim() { claims.append(claim) }
    }
    try await write(claims)
  }

  /// Stores `count` new entries in one batch.
  mutating func insert(_ count: Int) async throws(BenchmarkFailure) {
    var claims: [Claim] = []
    for _ in 0..<count {
      guard let number = job.check.ledger.reserveInsertion() else { break }
      if let version = job.check.ledger.beginWrite(number) { claims.append(Claim(number: number, version: version)) }
    }
    try await write(claims)
    job.check.ledger.acknowledgeInsertions()
  }

  /// Reads an entry and stores a new value under its key. No other worker writes it meanwhile, so the read must return
  /// exactly the previous version.
  mutating func readModifyWrite() async throws(BenchmarkFailure) {
    guard let claim = claim() else { return }
    let key = try self.key(claim.number)
    let begin = start()
    try await job.check.read(job.engine, key, claim.number, floor: claim.version - 1)
    var batch = WriteBatch()
    try add(claim, to: &batch)
    try await apply(batch)
    finish(begin)
    job.check.ledger.endWrite(claim.number, claim.version)
  }

  /// Compacts the store, which must remove expired entries and nothing else.
  mutating func expire() async throws(BenchmarkFailure) {
    let before = try await entryCount()
    let begin = start()
    do { try await job.engine.compact() } catch { throw BenchmarkFailure(error) }
    finish(begin, operations: 0)
    operations += max(0, before - (try await entryCount()))
    job.check.ledger.noteCompaction()
  }

  private mutating func load(_ positions: Range<Int>) async throws(BenchmarkFailure) {
    let isSequential = job.phase.distribution == .sequential
    let numbers = positions.map { isSequential ? $0 : Int(job.order[UInt64($0)]) }
    if let fetcher = job.fetcher {
      for number in numbers { try await fetch(number, fetcher, isStored: false) }
      return
    }
    try await write(
      numbers.compactMap { number in
        job.check.ledger.beginWrite(number).map { Claim(number: number, version: $0) }
      })
  }

  private mutating func write(_ claims: [Claim]) async throws(BenchmarkFailure) {
    guard !claims.isEmpty else { return }
    var batch = WriteBatch()
    for claim in claims { try add(claim, to: &batch) }
    let begin = start()
    try await apply(batch)
    finish(begin, operations: claims.count)
    for claim in claims { job.check.ledger.endWrite(claim.number, claim.version) }
  }

  /// Chooses an entry to write; if another worker is writing it, takes one of those after it. It tries no more entries
  /// than the workers can hold; if they hold all entries, the result is `nil`.
  private mutating func claim() -> Claim? {
    let ledger = job.check.ledger
    let (first, count) = (choose(), ledger.count)
    for step in 0..<min(count, job.workers * job.phase.batchSize + 1) {
      let number = (first + step) % count
      if let version = ledger.beginWrite(number) { return Claim(number: number, version: version) }
    }
    return nil
  }

  private func add(_ claim: Claim, to batch: inout WriteBatch) throws(BenchmarkFailure) {
    let (check, number) = (job.check, claim.number)
    let tag = check.values.tag(number, claim.version)
    let payload: [UInt8]
    if let typed = check.typed {
      do { payload = try typed.encode(number) } catch { throw BenchmarkFailure(error) }
    } else {
      payload = check.values.payload(tag: tag)
    }
    batch.put(try key(number), payload: payload, metadata: check.values.metadata(number, tag: tag))
  }

  private func apply(_ batch: WriteBatch) async throws(BenchmarkFailure) {
    do { try await job.engine.apply(batch) } catch { throw BenchmarkFailure(error) }
  }

  private func entryCount() async throws(BenchmarkFailure) -> Int {
    do { return try await job.engine.statistics().entries } catch { throw BenchmarkFailure(error) }
  }
}
