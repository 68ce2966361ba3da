import CacheCore
import EngineAPI

/// Fills a store with `entries` small entries that the tool takes for its own, each fourth of them expired, `batch` in a
/// batch.
struct Filler {
  private let engine: any StorageEngine
  private let entries: Int
  private let batchSize: Int

  init(_ engine: any StorageEngine, _ arguments: Arguments) throws(CacheError) {
    self.engine = engine
    entries = try arguments.number("entries", default: 1_000)
    batchSize = try arguments.number("batch", default: 10_000)
  }

  func run() async throws(CacheError) {
    let now = SystemClock().now
    for first in stride(from: 0, to: entries, by: batchSize) {
      var batch = WriteBatch()
      for index in first..<min(first + batchSize, entries) { try add(index, at: now, to: &batch) }
      try await engine.apply(batch)
    }
    Line.write("FILLED \(entries)")
  }

  private func add(_ index: Int, at now: Timestamp, to batch: inout WriteBatch) throws(CacheError) {
    let key = try CacheKey("movies/v1/number=\(String(repeating: "0", count: 8 - "\(index)".count))\(index)")
    let payload = Array(#"{"id":\#(index),"title":"The film with the number \#(index)","genres":["drama"]}"#.utf8)
    let (fresh, retained): (Duration, Duration) =
      switch index % 4 {
      case 0: (.seconds(-7_200), .seconds(-3_600))
      case 1: (.seconds(-60), .seconds(86_400))
      default: (.seconds(3_600), .seconds(86_400))
      }
    var metadata = EntryMetadata(
      storedAt: now.advanced(by: .seconds(-10_000)), freshUntil: now.advanced(by: fresh),
      retainUntil: now.advanced(by: retained), contentType: "application/json")
    metadata.setChecksums(key: key, payload: payload.span)
    batch.put(key, payload: payload, metadata: metadata)
  }
}
