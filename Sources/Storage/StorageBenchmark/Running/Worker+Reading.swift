internal import StorageSPI

/// Operations that only read.
extension Worker {
  /// Reads an entry, or fetches it, and checks it.
  @inline(__always)
  mutating func read() async throws(BenchmarkFailure) {
    let number = choose()
    if let fetcher = job.fetcher { return try await fetch(number, fetcher, isStored: true) }
    let floor = job.check.ledger.committed(number)
    let key = try self.key(number)
    let begin = start()
    try await job.check.read(job.engine, key, number, floor: floor)
    finish(begin)
  }

  /// Fetches a resource through the cache.
  mutating func fetch(
    _ number: Int, _ fetcher: any BenchmarkFetcher, isStored: Bool
  ) async throws(BenchmarkFailure) {
    let begin = start()
    let isRight: Bool
    do { isRight = try await fetcher.fetch(number, isStored: isStored) } catch { throw BenchmarkFailure(error) }
    finish(begin)
    guard isRight else { throw .wrong(WrongAnswer(.bytes, "what was fetched as number \(number) is not what it is")) }
  }

  /// Opens the store, reads an entry, and closes the store.
  mutating func open() async throws(BenchmarkFailure) {
    let number = choose()
    let floor = job.check.ledger.committed(number)
    let key = try self.key(number)
    let begin = start()
    let engine: any StorageEngine
    do { engine = try await job.store.open() } catch { throw BenchmarkFailure(error) }
    do throws(BenchmarkFailure) { try await job.check.read(engine, key, number, floor: floor) } catch {
      try? await engine.close()
      throw error
    }
    do { try await engine.close() } catch { throw BenchmarkFailure(error) }
    finish(begin)
  }

  /// Lists entries from a chosen one on, and checks that none is missing.
  mutating func scan() async throws(BenchmarkFailure) {
    let first = choose()
    let limit = job.scanLengths.size(random.next())
    let expectation = ScanExpectation(job.check, first: first, limit: limit)
    let range = KeyRange(prefix: KeySpace.prefix, after: first + job.check.keys.base > 0 ? try key(first - 1) : nil)
    let begin = start()
    let summaries: [EntrySummary]
    do { summaries = try await job.engine.scan(range, limit: limit) } catch { throw BenchmarkFailure(error) }
    finish(begin)
    try BenchmarkFailure.require(expectation.fault(summaries))
  }

  /// The key of the entry.
  @inline(__always)
  func key(_ number: Int) throws(BenchmarkFailure) -> CacheKey {
    try job.check.key(number)
  }
}
