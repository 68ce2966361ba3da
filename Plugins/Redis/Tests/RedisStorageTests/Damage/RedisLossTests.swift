import StorageSPI
import Testing

@testable import HiredisStorage
@testable import CacheCore

@Suite("A store that has lost its index or its tally is damaged, and not empty")
struct RedisLossTests {
  private static let server = Result { try RedisServer() }

  /// A store of its own with the entries 0 to 19, on the server or the cluster that the tests share.
  private struct Subject {
    let plugin: RedisPlugin
    let store: RedisStore
    let engine: any StorageEngine
    let configuration: EngineConfiguration
    /// The part that has the entry 7.
    let part: Int

    init(_ isCluster: Bool) async throws {
      plugin = RedisPlugin(isCluster ? .cluster : .server)
      let url = isCluster ? try RedisCluster.shared.get().url : try RedisLossTests.server.get().url
      let values = ["prefix": OptionValue.text("loss-" + String(UInt64.random(in: 0 ... .max), radix: 16))]
      store = RedisStore(try options(isCluster ? .cluster : .server, url, values))
      engine = try await plugin.open(url, values)
      configuration = try EngineConfiguration(
        for: plugin.declaration, values: patient(url, values), clock: SystemClock())
      part = store.layout.part(of: try CacheKey("cities/7"))
      for number in 0..<20 { try await engine.put("cities/\(number)", "1") }
    }

    /// Removes a table of the part.
    func lose(_ table: Int) throws {
      _ = try store.router.perform(RedisRequest(part, RedisCommand("DEL", store.layout.tables(of: part)[table])))
    }

    var administration: StoreAdministration {
      StoreAdministration(EntryStore(engine: engine, clock: SystemClock()))
    }

    /// Removes the store, and expects it to be empty and intact.
    func remove() async throws {
      #expect(await code { try await administration.removeAll { _ in } } == .damaged)
      try await plugin.removeStore(configuration)
      #expect(try await engine.keys() == [])
      #expect(try await engine.text("cities/7") == nil)
      #expect(try await engine.check().map(\.message) == [])
      try await engine.close()
    }
  }

  /// The text of the damage that `body` throws; `nil` if it throws none.
  private func damage(_ body: () async throws -> Void) async -> String? {
    do {
      try await body()
      return nil
    } catch {
      let error = error as? CacheError
      return error?.code == .damaged ? error?.message : nil
    }
  }

  @Test("A listing without the index fails, also after the next write has begun a new one", arguments: [false, true])
  func index(_ isCluster: Bool) async throws {
    let subject = try await Subject(isCluster)
    try subject.lose(0)
    for prefix in ["", "cities/", "cities/7"] {
      for limit in [1, 10] {
        let found = await damage { _ = try await subject.engine.scan(ScanRequest(prefix: prefix, limit: limit)) }
        #expect(found?.contains("lacks entries") == true, "\(prefix)")
      }
    }
    #expect(try await subject.engine.text("cities/7") == "1", "an entry is found by its key")
    // On a cluster each part has an index of its own.
    try await subject.engine.put("cities/new", "1")
    #expect(await damage { _ = try await subject.engine.keys() } != nil)
    #expect(try await subject.engine.text("cities/new") == "1")
    var batch = WriteBatch()
    batch.remove(try CacheKey("cities/new"))
    try await subject.engine.apply(batch)
    try await subject.remove()
  }

  @Test("Entries that the server has dropped are not taken for lost ones", arguments: [false, true])
  func gone(_ isCluster: Bool) async throws {
    let subject = try await Subject(isCluster)
    for number in 0..<20 {
      // As if the server had dropped it: the tally and the index still have it.
      let (key, layout) = (try CacheKey("cities/\(number)"), subject.store.layout)
      let removal = RedisCommand("DEL", layout.name(of: key))
      _ = try subject.store.router.perform(RedisRequest(layout.part(of: key), removal))
    }
    #expect(try await subject.engine.keys() == [])
    #expect(try await subject.engine.keys() == [])
    #expect(try await subject.engine.count().entries == 0)
    try await subject.engine.close()
  }

  @Test("A removal of all entries that is under way is not taken for a loss")
  func removal() async throws {
    let subject = try await Subject(false)
    var batch = WriteBatch()
    for number in 100..<1_580 {
      batch.put(try CacheKey("cities/\(number)"), payload: [1], metadata: .sample())
    }
    try await subject.engine.apply(batch)
    let clear = RedisRequest(
      0, .clear, keys: subject.store.layout.tables(of: 0), arguments: [[]], isChange: true)
    #expect(try subject.store.router.perform(clear).integer == 1)
    #expect(try await subject.engine.keys().count == 500)
    #expect(try await subject.engine.count().entries == 500)
    #expect(try await subject.engine.check().map(\.message) == [])
    #expect(try subject.store.router.perform(clear).integer == 0)
    #expect(try subject.store.inspect().exists == false)
    try await subject.engine.close()
  }

  @Test("Nothing is counted without the tally, whatever is read and replaced meanwhile", arguments: [false, true])
  func tally(_ isCluster: Bool) async throws {
    let subject = try await Subject(isCluster)
    let key = try CacheKey("cities/7")
    try subject.lose(1)
    #expect(await damage { _ = try await subject.engine.count() } != nil)
    let inspection = try subject.store.inspect()
    #expect(inspection.exists && inspection.caution?.contains("tally") == true)
    #expect(try await subject.engine.keys().count == 20)
    // A listing that forgets the line of an entry that is gone counts nothing.
    let payload = try #require(try await subject.engine.text("cities/7"))
    _ = try subject.store.router.perform(
      RedisRequest(subject.part, RedisCommand("DEL", subject.store.layout.name(of: key))))
    #expect(try await subject.engine.keys().count == 19)
    #expect(await damage { _ = try await subject.engine.count() } != nil)
    #expect(await code { try await subject.engine.compact() } == .damaged)
    let later = SystemClock().now.advanced(by: .seconds(86_400))
    try await subject.engine.put("cities/7", payload, .sample(retainUntil: later))
    #expect(await damage { _ = try await subject.engine.count() } != nil)
    try await subject.remove()
  }
}
