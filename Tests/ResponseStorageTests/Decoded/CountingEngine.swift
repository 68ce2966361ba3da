import MemoryStorage
import StorageConformance
import StorageSPI
import Synchronization

@testable import ResponseStorage

/// An engine in front of the memory engine that counts its reads, and counts its changes or pretends that it cannot.
final class CountingEngine: ChangeCounting {
  private struct State {
    var reads = 0
    var failure: CacheError?
    var afterReading: WriteBatch?
  }

  private let base: any StorageEngine
  private let counts: Bool
  private let state = Mutex(State())

  init(counts: Bool, clock: ManualClock) async throws {
    self.counts = counts
    base = try await MemoryPlugin().open(EngineConfiguration(for: MemoryPlugin().declaration, clock: clock))
  }

  /// The number of reads.
  var reads: Int { state.withLock { $0.reads } }

  /// Makes every read fail with `error` from now on.
  func breakDown(_ error: CacheError) { state.withLock { $0.failure = error } }

  /// Applies `batch` after the next read, before its caller gets the result.
  func applyAfterReading(_ batch: WriteBatch) { state.withLock { $0.afterReading = batch } }

  func changeCount() throws(CacheError) -> UInt64? {
    let count = try base.changeCounter?.changeCount()
    return counts ? count : nil
  }

  func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? {
    let (failure, batch) = state.withLock { state in
      state.reads += 1
      defer { state.afterReading = nil }
      return (state.failure, state.afterReading)
    }
    if let failure { throw failure }
    let output = try await base.read(key, body)
    if let batch { try await base.apply(batch) }
    return output
  }

  func apply(_ batch: WriteBatch) async throws(CacheError) { try await base.apply(batch) }
  func scan(_ range: KeyRange, limit: Int) async throws(CacheError) -> [EntrySummary] {
    try await base.scan(range, limit: limit)
  }
  func statistics() async throws(CacheError) -> StorageStatistics { try await base.statistics() }
  func checkIntegrity() async throws(CacheError) -> [IntegrityIssue] { try await base.checkIntegrity() }
  func compact() async throws(CacheError) { try await base.compact() }
  func close() async throws(CacheError) { try await base.close() }
}

/// A codec for texts that counts how often it decodes.
final class CountedCodec: Sendable {
  private let count = Atomic(0)
  private let prefix: String

  init(_ prefix: String = "") { self.prefix = prefix }

  /// How often it has decoded.
  var decoded: Int { count.load(ordering: .relaxed) }

  /// Creates a codec that puts the prefix in front of its values; codecs with another prefix have another identifier.
  func codec() -> PayloadCodec<String> {
    PayloadCodec(
      "test" + prefix, encode: { text in (Array(text.utf8), "text/plain") },
      decode: { [self] bytes, _, _ in
        count.add(1, ordering: .relaxed)
        return prefix + bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
      })
  }
}
