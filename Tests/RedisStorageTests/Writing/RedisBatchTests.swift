import EngineAPI
import Testing

@testable import RedisStorage

extension StorageEngine {
  /// The code of the error with which `batch` fails; `nil` if it does not.
  func failure(of batch: WriteBatch) async -> CacheError.Code? { await code { try await apply(batch) } }
}

@Suite("Batches as a server takes them")
struct RedisBatchTests {
  private let key: CacheKey
  private let lease: CacheKey

  init() throws {
    key = try CacheKey("cities/a")
    lease = try CacheKey("leases/a")
  }

  @Test("Requirements of the batch's own operations are judged without a server", arguments: [true, false])
  func ownRequirements(_ holds: Bool) throws {
    var batch = WriteBatch()
    batch.require(key, .absent)
    batch.put(key, payload: [1], metadata: .sample(checksum: 7))
    batch.require(key, .checksum(holds ? 7 : 8))
    batch.remove(key)
    batch.require(key, .absent)
    guard holds else {
      let error = #expect(throws: CacheError.self) { try RedisBatch(batch) }
      #expect(error?.code == .conflict)
      return
    }
    let made = try RedisBatch(batch)
    #expect(made.wanted == [key: .absent])
    guard case .remove? = made.changes[key] else {
      Issue.record("the last operation counts")
      return
    }
  }

  /// The script reads the end of an entry first, and all metadata only if it needs to.
  @Test("The script finds the checksum and the payload, however long the metadata is")
  func longMetadata() async throws {
    let server = try RedisServer()
    let engine = try await RedisPlugin().open(server.url)
    for length in [0, 5_000] + Array(170..<240) {
      var (first, second) = (EntryMetadata.sample(checksum: 1 << 60 | 7), EntryMetadata.sample(checksum: 8))
      (first.attributes, second.attributes) = (["a": String(repeating: "x", count: length)], [:])
      let payload = String(repeating: "y", count: length % 5)
      try await engine.put("cities/a", payload, first)
      for (checksum, failure) in [(7, CacheError.Code.conflict), (1 << 60 | 7, nil), (1 << 60 | 7, .conflict)] {
        var batch = WriteBatch()
        batch.update(key, metadata: second, from: UInt64(checksum))
        #expect(await engine.failure(of: batch) == failure, "\(length) bytes")
      }
      let found = try await engine.read(key) { _, metadata throws(CacheError) in metadata }
      #expect(found == second, "\(length) bytes")
      #expect(try await engine.text("cities/a") == payload, "\(length) bytes")
    }
    try await engine.close()
  }

  @Test("The digest of the script is the one that a server knows it by, and a server that has forgotten it is sent it")
  func digest() async throws {
    let server = try RedisServer()
    #expect(try server.ask("SCRIPT", "LOAD", RedisScript.source).text == RedisScript.hash)
    #expect(RedisScript.source.split(separator: "\n").count <= 40)
    let engine = try await RedisPlugin().open(server.url)
    for number in 0..<3 {
      try server.ask("SCRIPT", "FLUSH")
      var batch = WriteBatch()
      batch.require(key, number == 0 ? .absent : .checksum(UInt64(number)))
      batch.put(key, payload: [1], metadata: .sample(checksum: UInt64(number + 1)))
      batch.put(lease, payload: [1], metadata: .sample())
      try await engine.apply(batch)
    }
    #expect(try await engine.check().isEmpty)
    #expect(try await engine.keys().sorted() == ["cities/a", "leases/a"])
    try await engine.close()
  }

  @Test("A single put and a single removal are one plain command, and a put that ends a lease is one script")
  func commands() async throws {
    let server = try RedisServer()
    let engine = try await RedisPlugin().open(server.url)
    var first = WriteBatch()
    first.require(lease, .absent)
    first.put(lease, payload: [], metadata: .sample(checksum: 5))
    try await engine.apply(first)
    #expect(await engine.failure(of: first) == .conflict)
    try await engine.put("cities/b", "1")
    var removal = WriteBatch()
    removal.remove(try CacheKey("cities/b"))
    try await engine.apply(removal)
    #expect(try server.cli("INFO", "commandstats").contains("cmdstat_eval") == false)
    var ending = WriteBatch()
    ending.put(key, payload: [1], metadata: .sample())
    ending.require(lease, .checksum(5))
    ending.remove(lease)
    try await engine.apply(ending)
    #expect(try await engine.keys() == ["cities/a"])
    #expect(try server.cli("INFO", "commandstats").contains("cmdstat_eval:calls=1,"))
    #expect(await engine.failure(of: ending) == .conflict)
    try await engine.close()
  }

  @Test("On a cluster, a batch over many slots is made, or changes nothing if something is not as required")
  func manySlots() async throws {
    let prefix = "slots-" + String(UInt64.random(in: 0 ... .max), radix: 16)
    let engine = try await RedisPlugin().open(RedisCluster.shared.get().url, ["prefix": .text(prefix)])
    let keys = try (0..<300).map { try CacheKey("cities/\($0)") }
    var batch = WriteBatch()
    for key in keys { batch.put(key, payload: [1], metadata: .sample()) }
    try await engine.apply(batch)
    #expect(try await engine.count().entries == 300)
    var failing = WriteBatch()
    for key in keys { failing.remove(key) }
    failing.require(try CacheKey("movies/a"), .checksum(7))
    #expect(await engine.failure(of: failing) == .conflict)
    #expect(try await engine.count().entries == 300)
    var removal = WriteBatch()
    for key in keys {
      removal.require(key, .checksum(1))
      removal.remove(key)
    }
    try await engine.apply(removal)
    #expect(try await engine.count().entries == 0)
    try await engine.close()
  }
}
