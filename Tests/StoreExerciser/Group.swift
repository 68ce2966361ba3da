import EngineAPI

/// Entries in several namespaces that are always written in one batch: a reader who sees one sees all, with the same
/// number.
struct Group {
  let lane: Int

  static let namespaces = ["alpha", "beta", "gamma"]

  func key(_ part: Int) throws(CacheError) -> CacheKey { try CacheKey("\(Self.namespaces[part])/v1/group=\(lane)") }

  func batch(_ number: Int) throws(CacheError) -> WriteBatch {
    var batch = WriteBatch()
    for part in Self.namespaces.indices {
      let metadata = EntryMetadata(
        storedAt: Timestamp(milliseconds: Int64(number)), freshUntil: .distantFuture, retainUntil: .distantFuture,
        contentType: "text/plain", checksum: UInt64(number))
      batch.put(try key(part), payload: Self.payload(part, number), metadata: metadata)
    }
    return batch
  }

  /// A payload in which every byte tells the number. One in sixteen is larger than 64 KiB.
  static func payload(_ part: Int, _ number: Int) -> [UInt8] {
    let size = number % 16 == 15 && part == 1 ? 70_000 : 100 + number * 37 % 3_000
    return [UInt8](repeating: UInt8(0x21 + (number + part) % 90), count: size)
  }
}

/// Writes a group `times` times.
struct GroupWriter {
  private let engine: any StorageEngine
  private let group: Group
  private let times: Int

  init(_ engine: any StorageEngine, _ arguments: Arguments) throws(CacheError) {
    self.engine = engine
    group = Group(lane: try arguments.number("lane", default: 0))
    times = try arguments.number("times", default: 1)
  }

  func run() async throws(CacheError) {
    var waiting = Waiting()
    for number in 1...times {
      let batch = try group.batch(number)
      try await waiting.measure { () throws(CacheError) in try await engine.apply(batch) }
    }
    waiting.report()
  }
}
