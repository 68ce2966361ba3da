import CacheCore
import EngineAPI

/// Writes to a store with small limits, or samples its content meanwhile.
///
/// - `lane`: the number of the writer.
/// - `lanes`: for the sampler, how many writers there are.
/// - `times`: how many entries each writes.
struct Sampler {
  private static let limits = StoreLimits(maxEntries: 12, maxBytes: 4_000)
  private static let done = "leases/v1/done-"

  private let engine: any StorageEngine
  private let lane: Int
  private let lanes: Int
  private let times: Int

  init(_ engine: any StorageEngine, _ arguments: Arguments) throws(CacheError) {
    self.engine = engine
    lane = try arguments.number("lane", default: 0)
    lanes = try arguments.number("lanes", default: 0)
    times = try arguments.number("times", default: 0)
  }

  func write() async throws(CacheError) {
    let store = EntryStore(engine: engine, clock: SystemClock(), limits: Self.limits)
    for number in 0..<times {
      // Four sizes, of which three of the largest fill the store.
      let bytes = [10, 200, 600, 1_300][(number + lane) % 4]
      do throws(CacheError) {
        try await store.write(
          try CacheKey("url/v1/\(lane)/\(number % 20)"), payload: [UInt8](repeating: UInt8(lane), count: bytes),
          metadata: Self.metadata)
      } catch {
        // The others are faster.
        guard error.code == .busy else { throw error }
      }
    }
    // The namespace of leases does not count.
    var batch = WriteBatch()
    batch.put(try CacheKey("\(Self.done)\(lane)"), payload: [], metadata: Self.metadata)
    try await engine.apply(batch)
  }

  /// Counts until all writers have ended.
  func sample() async throws(CacheError) {
    var samples = 0
    var largest = EntryCount()
    while true {
      let count = try await engine.count().withoutLeases.total()
      guard count.entries <= Self.limits.maxEntries, count.payloadBytes <= Self.limits.maxBytes else {
        throw CacheError(.overBounds, "sample \(samples): \(count.entries) entries, \(count.payloadBytes) bytes")
      }
      largest.entries = max(largest.entries, count.entries)
      largest.payloadBytes = max(largest.payloadBytes, count.payloadBytes)
      samples += 1
      if samples == 1 { Line.write("LOOKED") }
      if try await engine.scan(ScanRequest(prefix: Self.done)).entries.count == lanes { break }
    }
    Line.write("LARGEST \(largest.entries)")
    Line.write("BYTES \(largest.payloadBytes)")
    Line.write("SAMPLES \(samples)")
  }

  private static let metadata = EntryMetadata(
    storedAt: Timestamp(milliseconds: 0), freshUntil: .distantFuture, retainUntil: .distantFuture,
    contentType: "text/plain")
}
