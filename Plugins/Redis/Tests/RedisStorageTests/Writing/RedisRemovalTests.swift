import StorageSPI
import Testing

@testable import HiredisStorage

@Suite("A store is removed as a whole")
struct RedisRemovalTests {
  /// What is wrong with the store, besides nothing.
  static let damages: [[String]] = [
    [], ["APPEND", "cachectl:cities/1", "x"], ["SET", "cachectl:cities/1", "text"],
    ["HSET", "cachectl:tally", "cities 1 2", "many"], ["SET", "cachectl:tally", "text"],
    ["DEL", "cachectl:index"], ["SET", "cachectl:index", "text"], ["DEL", "cachectl:index", "cachectl:tally"],
  ]

  @Test("Whatever is wrong with it, and nothing of anybody else is touched", arguments: damages)
  func removed(_ damage: [String]) async throws {
    let (server, plugin) = (try RedisServer(), RedisPlugin())
    let others = ["cachectl", "cachectl2:cities/1", "cachectl:other:cities/1", "other"]
    for name in others { try server.ask("SET", name, "1") }
    let engine = try await plugin.open(server.url)
    var batch = WriteBatch()
    for number in 0..<2_500 { batch.put(try CacheKey("cities/\(number)"), payload: [1], metadata: .sample()) }
    try await engine.apply(batch)
    if !damage.isEmpty {
      var command = RedisCommand()
      command.append(damage)
      #expect(try server.connection().exchange([command])[0].value.error == nil)
    }
    try await plugin.removeStore(
      EngineConfiguration(for: plugin.declaration, values: patient(server.url), clock: SystemClock()))
    #expect(try Set(server.cli("--raw", "KEYS", "*").split(separator: "\n").map(String.init)) == Set(others))
    // Who has it open finds it empty, and goes on.
    #expect(try await engine.keys() == [])
    try await engine.put("cities/1", "1")
    #expect(try await engine.check().map(\.message) == [])
    try await engine.close()
  }

  @Test("On a cluster too")
  func cluster() async throws {
    let (cluster, plugin) = (try RedisCluster.shared.get(), RedisPlugin(.cluster))
    let prefix = "removal-" + String(UInt64.random(in: 0 ... .max), radix: 16)
    let values = patient(cluster.url, ["prefix": .text(prefix)])
    let engine = try await plugin.open(cluster.url, values)
    for number in 0..<200 { try await engine.put("cities/\(number)", "1") }
    let store = RedisStore(try options(.cluster, cluster.url, ["prefix": .text(prefix)]))
    _ = try store.router.perform(
      store.layout.parts.map { RedisRequest($0, RedisCommand("DEL", store.layout.tables(of: $0)[0])) })
    #expect(await code { _ = try await engine.keys() } == .damaged)
    #expect(try await engine.text("cities/7") == "1")
    try await plugin.removeStore(
      EngineConfiguration(for: plugin.declaration, values: values, clock: SystemClock()))
    for number in 0..<200 { #expect(try await engine.text("cities/\(number)") == nil) }
    #expect(try await engine.check().map(\.message) == [])
    try await engine.close()
  }

  @Test("What another process puts during a removal stays, and is counted")
  func putMeanwhile() async throws {
    let (server, plugin) = (try RedisServer(), RedisPlugin())
    let engine = try await plugin.open(server.url)
    var batch = WriteBatch()
    for number in 0..<2_500 { batch.put(try CacheKey("cities/\(number)"), payload: [1], metadata: .sample()) }
    try await engine.apply(batch)
    try server.ask("SET", "cachectl:cities/lost", "1")
    let store = RedisStore(try options(.server, server.url))
    try store.removeUnlisted()
    #expect(try server.ask("EXISTS", "cachectl:cities/lost").integer == 0)
    #expect(try await engine.keys().count == 2_500)
    #expect(try await engine.check().map(\.message) == [])
    try await engine.close()
  }

  @Test("On a server without room too")
  func withoutRoom() async throws {
    let (server, plugin) = (try RedisServer(), RedisPlugin())
    let engine = try await plugin.open(server.url)
    var batch = WriteBatch()
    for number in 0..<2_500 { batch.put(try CacheKey("cities/\(number)"), payload: [1], metadata: .sample()) }
    try await engine.apply(batch)
    try server.ask("CONFIG", "SET", "maxmemory", "1")
    try await plugin.removeStore(
      EngineConfiguration(for: plugin.declaration, values: patient(server.url), clock: SystemClock()))
    #expect(try server.ask("DBSIZE").integer == 0)
    try await engine.close()
  }

  @Test("A store of a later version stays")
  func laterVersion() async throws {
    let (server, plugin) = (try RedisServer(), RedisPlugin())
    try server.ask("HSET", "cachectl:tally", "format", "3")
    let configuration = try EngineConfiguration(
      for: plugin.declaration, values: patient(server.url), clock: SystemClock())
    #expect(await code { try await plugin.removeStore(configuration) } == .unsupportedFormat)
    #expect(try server.ask("DBSIZE").integer == 1)
  }
}
