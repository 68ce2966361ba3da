import EngineAPI

/// Adds one to a number in the store, `times` times, as a process that shares it does: read, write on the precondition
/// that the entry is unchanged, and begin again on a conflict. "TRIES NUMBER" says how often it began again.
struct Counter {
  private let engine: any StorageEngine
  private let times: Int

  init(_ engine: any StorageEngine, _ arguments: Arguments) throws(CacheError) {
    self.engine = engine
    times = try arguments.number("times", default: 1)
  }

  func run() async throws(CacheError) {
    let key = try CacheKey("counters/v1/number")
    var waiting = Waiting()
    var done = 0
    var tries = 0
    while done < times {
      tries += 1
      if try await waiting.measure({ () throws(CacheError) in try await increment(key) }) { done += 1 }
    }
    waiting.report()
    Line.write("TRIES \(tries)")
    Line.write("VALUE \(try await value(key) ?? 0)")
  }

  private func increment(_ key: CacheKey) async throws(CacheError) -> Bool {
    let value = try await value(key)
    var batch = WriteBatch()
    batch.require(key, value.map { .checksum($0) } ?? .absent)
    let next = (value ?? 0) + 1
    let metadata = EntryMetadata(
      storedAt: Timestamp(milliseconds: 1), freshUntil: .distantFuture, retainUntil: .distantFuture,
      contentType: "text/plain", checksum: next)
    batch.put(key, payload: Array("\(next)".utf8), metadata: metadata)
    do throws(CacheError) {
      try await engine.apply(batch)
      return true
    } catch  where error.code == .conflict {
      return false
    }
  }

  private func value(_ key: CacheKey) async throws(CacheError) -> UInt64? {
    try await engine.read(key) { payload, metadata throws(CacheError) in
      let text = payload.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
      guard text == "\(metadata.checksum)" else { throw CacheError(.damaged, "'\(text)' is not its metadata's") }
      return metadata.checksum
    }
  }
}
