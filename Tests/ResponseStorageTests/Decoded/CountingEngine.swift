import MemoryStorage
import StorageConformance
import StorageSPI
import Synchronization

@testable import ResponseStorage

/// An engine in front of the memory engine that counts its changes, or seems unable to, and counts its reads.
final class CountingEngine: ChangeCounting {
  private struct State {
    var reads = 0
    var failure: StorageError?
    var afterReading: WriteBatch?
  }

  private let base: any StorageEngine
  private let counts: Bool
  private let state = Mutex(State())

  init(counts: Bool, clock: ManualClock) async throws {
    self.counts = counts
    base = try await MemoryPlugin().open(EngineConfiguration(for: MemoryPlugin().declaration, clock: clock))
  }

  /// How many reads were made.
  var reads: Int { state.withLock { $0.reads } }

  /// From now on every read fails with `error`.
  func breakDown(_ error: StorageError) { state.withLock { $0.failure = error } }

  /// Applies `batch` while the next read is on its way back to its caller.
  func applyAfterReading(_ batch: WriteBatch) { state.withLock { $0.afterReading = batch } }

  func changeCount() throws(StorageError) -> UInt64? {
    let count = try base.changeCounter?.changeCount()
    return counts ? count : nil
  }

  func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(StorageError) -> Output
  ) async throws(StorageError) -> Output? {
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

  func apply(_ batch: WriteBatch) async throws(StorageError) { try await base.apply(batch) }
  func scan(_ range: KeyRange, limit: Int) async throws(StorageError) -> [EntrySummary] {
    try await base.scan(range, limit: limit)
  }
  func statistics() async throws(StorageError) -> StorageStatistics { try await base.statistics() }
  func checkIntegrity() async throws(StorageError) -> [IntegrityIssue] { try await base.checkIntegrity() }
  func compact() async throws(StorageError) { try await base.compact() }
  func close() async throws(StorageError) { try await base.close() }
}

/// A codec of texts that counts how often it decodes.
final class CountedCodec: Sendable {
  private let count = Atomic(0)
  private let prefix: String

  init(_ prefix: String = "") { self.prefix = prefix }

  /// How often it has decoded.
  var decoded: Int { count.load(ordering: .relaxed) }

  /// A codec whose values begin with the prefix; each is another codec.
  func codec() -> PayloadCodec<String> {
    PayloadCodec(
      encode: { text in (Array(text.utf8), "text/plain") },
      decode: { [self] bytes, _, _ in
        count.add(1, ordering: .relaxed)
        return prefix + bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
      })
  }
}
