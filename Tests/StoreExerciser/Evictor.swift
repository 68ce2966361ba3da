import CacheCore
import EngineAPI

/// Writes to a store at its limit, one small entry after another, and checks such a store.
///
/// - `from`: the number of the first entry. A store that starts with entry 0 is filled at once.
/// - `acknowledged`: for the check, how many entries were acknowledged.
struct Evictor {
  /// So many that a choice of evictions does not look at all entries.
  private static let limits = StoreLimits(maxEntries: 1_200, eviction: .fifo)
  /// How many of the newest entries no eviction touches.
  private static let kept = 300

  private let engine: any StorageEngine
  private let first: Int
  private let acknowledged: Int

  init(_ engine: any StorageEngine, _ arguments: Arguments) throws(CacheError) {
    self.engine = engine
    first = try arguments.number("from", default: 0)
    acknowledged = try arguments.number("acknowledged", default: 0)
  }

  func write() async throws(CacheError) {
    let store = EntryStore(engine: engine, clock: SystemClock(), limits: Self.limits)
    var next = first
    var batch = WriteBatch()
    while next < Self.limits.maxEntries {
      var metadata = Self.metadata(next)
      metadata.setChecksums(key: try Self.key(next), payload: Self.payload(next).span)
      batch.put(try Self.key(next), payload: Self.payload(next), metadata: metadata)
      next += 1
    }
    if next > first {
      try await engine.apply(batch)
      Line.write("A \(next - 1)")
    }
    while true {
      try await store.write(try Self.key(next), payload: Self.payload(next), metadata: Self.metadata(next))
      Line.write("A \(next)")
      next += 1
    }
  }

  /// Checks that the store is intact and within its limits, that the newest entries are there, and that the entries that
  /// are there are as they were written.
  func check() async throws(CacheError) {
    if let issue = try await engine.check().first { throw wrong("integrity: \(issue.message)") }
    var keys: Set<CacheKey> = []
    var request = ScanRequest(limit: 500)
    repeat {
      let page = try await engine.scan(request)
      keys.formUnion(page.entries.map(\.key))
      request.position = page.next
    } while request.position != nil
    let counted = try await engine.count().entries
    guard counted == keys.count else { throw wrong("\(counted) entries are counted, \(keys.count) are there") }
    guard keys.count <= Self.limits.maxEntries else { throw wrong("\(keys.count) entries are there") }
    for number in max(0, acknowledged - Self.kept)..<acknowledged {
      guard keys.contains(try Self.key(number)) else { throw wrong("entry \(number) of \(acknowledged) is gone") }
    }
    for number in 0...acknowledged where keys.contains(try Self.key(number)) {
      let key = try Self.key(number)
      let isSame = try await engine.read(key) { payload, metadata throws(CacheError) in
        metadata.isIntact(key: key, payload: payload)
          && payload.withUnsafeBufferPointer { $0.elementsEqual(Self.payload(number)) }
      }
      guard isSame == true else { throw wrong("entry \(number) is not as it was written") }
    }
    let newest = try keys.contains(Self.key(acknowledged)) ? acknowledged + 1 : acknowledged
    Line.write("NEXT \(newest)")
  }

  private static func key(_ number: Int) throws(CacheError) -> CacheKey {
    // In another order than they are stored in.
    let digits = String(UInt32(truncatingIfNeeded: number) &* 2_654_435_761)
    return try CacheKey("url/v1/\(String(repeating: "0", count: 10 - digits.count))\(digits)/\(number)")
  }

  private static func payload(_ number: Int) -> [UInt8] { Array("entry \(number)".utf8) }

  private static func metadata(_ number: Int) -> EntryMetadata {
    EntryMetadata(
      storedAt: Timestamp(milliseconds: 1_000_000 + Int64(number)), freshUntil: .distantFuture,
      retainUntil: .distantFuture, contentType: "text/plain")
  }

  private func wrong(_ what: String) -> CacheError { CacheError(.damaged, what) }
}
