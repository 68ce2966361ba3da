import StorageSPI
import Testing

@testable import HiredisStorage

@Suite("Batches as a server takes them")
struct RedisBatchTests {
  private let key: CacheKey

  init() throws { key = try CacheKey("cities/a") }

  @Test("What a batch requires of its own operations is judged without a server", arguments: [true, false])
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
    #expect(made.requirements.map(\.expectation) == [.absent])
    guard case .remove? = made.changes[key] else {
      Issue.record("the last operation counts")
      return
    }
  }

  @Test(
    "A server remembers a batch for twice as long as it is sent again, and at least a minute",
    arguments: [(5_000, "60000"), (600_000, "1200000")])
  func remembered(_ timeout: Int64, _ expected: String) throws {
    var batch = WriteBatch()
    batch.put(key, payload: [1], metadata: .sample())
    let store = RedisStore(try options(.server, "redis://127.0.0.1:1", ["timeout": .integer(timeout)]))
    let application = store.application(try RedisBatch(batch), part: 0, .apply(nil))
    guard case .script(_, _, let arguments) = try application.request(store.options).body else {
      Issue.record("a batch is no script")
      return
    }
    #expect(String(decoding: arguments[3], as: UTF8.self) == expected)
  }

  @Test("What a server does not take is refused before anything is sent")
  func tooLarge() throws {
    var single = WriteBatch()
    single.put(key, payload: .init(repeating: 0, count: (512 << 20) + 1), metadata: .sample())
    #expect(throws: CacheError.self) { try RedisBatch(single) }
    var many = WriteBatch()
    let payload = [UInt8](repeating: 0, count: 100 << 20)
    for number in 0..<10 { many.put(try CacheKey("cities/\(number)"), payload: payload, metadata: .sample()) }
    let error = #expect(throws: CacheError.self) { try RedisBatch(many) }
    #expect(error?.code == .tooLarge)
  }
}

/// What a server does with a request of a shape that a call makes only by chance.
@Suite("Scripts on a server")
struct RedisScriptTests {
  private func key(_ number: Int) throws -> CacheKey { try CacheKey("cities/\(number)") }

  private func batch(_ keys: CacheKey..., metadata: EntryMetadata = .sample()) throws -> RedisBatch {
    var batch = WriteBatch()
    for key in keys { batch.put(key, payload: [1], metadata: metadata) }
    return try RedisBatch(batch)
  }

  /// The verdict of the server on `application`.
  private func verdict(
    _ application: RedisApplication, _ store: RedisStore
  ) throws -> RedisApplication.Verdict {
    try #require(application.verdict(try store.router.perform(application.request(store.options))))
  }

  @Test("A namespace may be called like anything in the tally", arguments: ["changes", "format", "swept", "ends"])
  func namespaces(_ name: String) async throws {
    let server = try RedisServer()
    let engine = try await RedisPlugin().open(server.url)
    for _ in 0..<2 { try await engine.put("\(name)/a", "12") }
    let count = try await engine.count()
    #expect(Set(count.namespaces.keys) == [name] && count[name].entries == 1 && count[name].payloadBytes == 2)
    #expect(try await engine.check().map(\.message) == [])
    var batch = WriteBatch()
    batch.bounds = StoreBounds(maxEntries: 1, maxPayloadBytes: 2, exemptNamespace: name)
    batch.put(try CacheKey("cities/a"), payload: [1, 2], metadata: .sample())
    try await engine.apply(batch)
    #expect(try await engine.keys() == ["cities/a", "\(name)/a"].sorted())
    try await engine.close()
  }

  @Test("A single entry has a script of its own, which leaves a garbled tally to the other", arguments: [true, false])
  func singleEntry(isGarbled: Bool) async throws {
    let server = try RedisServer()
    let store = RedisStore(try options(.server, server.url))
    let single = try batch(try key(1))
    // One put in so many takes a sample, which that script does not.
    let application = try #require(
      (0..<1_000).lazy.map { _ in store.application(single, part: 0, .apply(nil)) }.first { application in
        guard case .script(.put, _, _)? = try? application.firstRequest(store.options).body else { return false }
        return true
      })
    var (slot, verdict) = (Int64(0), RedisApplication.Verdict?.none)
    // The other script also handles the first write in a slot of time.
    repeat {
      try server.ask("FLUSHALL")
      slot = SystemClock().now.milliseconds >> 20
      let later = SystemClock().now.advanced(by: .seconds(86_400))
      try store.apply(batch(try key(0), metadata: .sample(retainUntil: later)))
      if isGarbled { try server.ask("HSET", "cachectl:tally", "changes", "garbled") }
      verdict = application.verdict(try store.router.perform(application.firstRequest(store.options)))
    } while SystemClock().now.milliseconds >> 20 != slot
    #expect((verdict == nil) == isGarbled)
    #expect(try server.cli("--raw", "EXISTS", "cachectl:cities/1") == (isGarbled ? "0" : "1"))
    try store.apply(single)
    #expect(try store.count().total.entries == 2)
    #expect(try store.examine().map(\.message) == [])
  }

  @Test("After its clock was ahead, a server counts all entries again")
  func clockAhead() async throws {
    let server = try RedisServer()
    let store = RedisStore(try options(.server, server.url))
    try store.apply(batch(try key(0)))
    let ahead = SystemClock().now.milliseconds >> 20 + 100
    try server.ask("HSET", "cachectl:tally", "swept", "\(ahead)")
    for number in 1..<3 { try store.apply(batch(try key(number))) }
    for _ in 0..<2 { try store.apply(batch(try key(1))) }
    #expect(try store.count().total.entries == 3)
    #expect(try store.examine().map(\.message) == [])
    var removal = WriteBatch()
    for number in 1..<3 { removal.remove(try key(number)) }
    try store.apply(try RedisBatch(removal))
    #expect(try store.count().total.entries == 1)
  }

  @Test("A late copy of a batch undoes nothing, even if its writer has made the next one")
  func lateCopy() async throws {
    let server = try RedisServer()
    let store = RedisStore(try options(.server, server.url))
    func application(_ number: UInt64, _ payload: UInt8) throws -> RedisApplication {
      var batch = WriteBatch()
      batch.put(try key(0), payload: [payload], metadata: .sample())
      let name = RedisBatchName(writer: "w", number: number)
      return RedisApplication(try RedisBatch(batch), part: 0, .apply(nil), name: name)
    }
    for (number, payload) in [(1, 1), (2, 2), (1, 1)] as [(UInt64, UInt8)] {
      guard case .done = try verdict(try application(number, payload), store).outcome else {
        Issue.record("it is not done")
        return
      }
    }
    #expect(try store.entries([try key(0)]).first?.payload == [2])
  }

  @Test("A change of the index is counted as one, even if the counts stay as they are")
  func changesThatCancelOut() async throws {
    let server = try RedisServer()
    let store = RedisStore(try options(.server, server.url))
    let metadata = EntryMetadata.sample()
    try store.apply(batch(try key(0), metadata: metadata))
    let before = try store.count().changes
    var swap = WriteBatch()
    swap.remove(try key(0))
    swap.put(try key(1), payload: [1], metadata: metadata)
    try store.apply(try RedisBatch(swap))
    #expect(try store.count().changes == before + 1)
    #expect(try store.examine().map(\.message) == [])
  }

  @Test("A server that takes no changes keeps no listing from what is there")
  func refusedChanges() async throws {
    let server = try RedisServer()
    let engine = try await RedisPlugin().open(server.url)
    for key in ["cities/a", "cities/b"] { try await engine.put(key, "1") }
    try server.ask("UNLINK", "cachectl:cities/a")
    try server.ask("CONFIG", "SET", "min-replicas-to-write", "1")
    #expect(try await engine.keys() == ["cities/b"])
    #expect(try await engine.count().entries == 2)
    try server.ask("CONFIG", "SET", "min-replicas-to-write", "0")
    #expect(try await engine.keys() == ["cities/b"])
    #expect(try await engine.count().entries == 1)
    try await engine.close()
  }

  @Test("What a later version has written is changed by no call")
  func laterVersion() async throws {
    let server = try RedisServer()
    let engine = try await RedisPlugin().open(server.url)
    try await engine.put("cities/a", "1")
    try server.ask("UNLINK", "cachectl:cities/a")
    try server.ask("HSET", "cachectl:tally", "format", "3", "cities 1 2", "5 50", "swept", "1")
    let tally = try server.cli("DUMP", "cachectl:tally")
    _ = try await engine.keys()
    #expect(await code { _ = try await engine.count() } == .unsupportedFormat)
    #expect(await code { try await engine.compact() } == .unsupportedFormat)
    #expect(await code { try await engine.put("cities/b", "1") } == .unsupportedFormat)
    #expect(try server.cli("DUMP", "cachectl:tally") == tally)
    #expect(try server.ask("ZCARD", "cachectl:index").integer == 1)
    try await engine.close()
  }

  @Test("An empty string in the place of an entry is damage, and not an absent entry")
  func emptyString() async throws {
    let server = try RedisServer()
    let engine = try await RedisPlugin().open(server.url)
    try await engine.put("cities/a", "1")
    try server.ask("SET", "cachectl:cities/a", "")
    var batch = WriteBatch()
    batch.require(try CacheKey("cities/a"), .absent)
    let made = batch
    #expect(await code { try await engine.apply(made) } == .conflict)
    #expect(try await engine.check().map { $0.key?.text } == ["cities/a"])
    try await engine.close()
  }
}
