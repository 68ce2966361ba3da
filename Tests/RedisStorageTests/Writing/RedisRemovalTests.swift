import EngineAPI
import Testing

@testable import RedisStorage

@Suite("A store is removed as a whole")
struct RedisRemovalTests {
  private func fill(_ engine: any StorageEngine) async throws {
    var batch = WriteBatch()
    for number in 0..<2_500 { batch.put(try CacheKey("cities/\(number)"), payload: [1], metadata: .sample()) }
    try await engine.apply(batch)
  }

  @Test("Whatever is wrong with it, and nothing of anybody else is touched")
  func removed() async throws {
    let (server, plugin) = (try RedisServer(), RedisPlugin())
    let others = ["cachectl", "cachectl2:cities/1", "cachectl:other:cities/1", "other", "cities/1"]
    for name in others { try server.ask("SET", name, "1") }
    let engine = try await plugin.open(server.url)
    try await fill(engine)
    try server.ask("SET", "cachectl:cities/1", "text")
    try server.ask("RPUSH", "cachectl:cities/list", "text")
    try await plugin.removeStore(configuration(server.url))
    #expect(try Set(server.cli("--raw", "KEYS", "*").split(separator: "\n").map(String.init)) == Set(others))
    // Who has it open finds it empty, and continues.
    #expect(try await engine.keys() == [])
    try await engine.put("cities/1", "1")
    #expect(try await engine.check().map(\.message) == [])
    try await engine.close()
  }

  @Test("On a cluster too")
  func cluster() async throws {
    let (url, plugin) = (try RedisCluster.shared.get().url, RedisPlugin())
    let values = ["prefix": OptionValue.text("removal-" + String(UInt64.random(in: 0 ... .max), radix: 16))]
    let engine = try await plugin.open(url, values)
    let other = try await plugin.open(url, ["prefix": .text("removal")])
    try await other.put("cities/7", "1")
    try await fill(engine)
    #expect(try await plugin.inspect(configuration(url, values)).exists)
    try await plugin.removeStore(configuration(url, values))
    for number in 0..<200 { #expect(try await engine.text("cities/\(number)") == nil) }
    #expect(try await engine.keys() == [])
    #expect(try await other.text("cities/7") == "1")
    #expect(try await plugin.inspect(configuration(url, values)).exists == false)
    for engine in [engine, other] { try await engine.close() }
  }

  @Test("It is not moved aside")
  func movedAside() async throws {
    let server = try RedisServer()
    let failure = await code {
      _ = try await RedisPlugin().removeStore(try configuration(server.url), movingAside: ".damaged")
    }
    #expect(failure == .unsupported)
  }
}
