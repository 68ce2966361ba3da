import EngineAPI
import Testing

@testable import RedisStorage

/// The configuration of a patient engine at `url`.
func configuration(
  _ url: String, _ values: [String: OptionValue] = [:], clock: any WallClock = SystemClock()
) throws -> EngineConfiguration {
  try EngineConfiguration(for: RedisPlugin().declaration, values: patient(url, values), clock: clock)
}

@Suite("The server says what there is of a store, and how it bounds the store")
struct RedisInspectionTests {
  private func inspect(_ url: String, _ values: [String: OptionValue] = [:]) async throws -> StoreInspection {
    try await RedisPlugin().inspect(try configuration(url, values))
  }

  @Test("A store is there once it was written to")
  func presence() async throws {
    let server = try RedisServer()
    let empty = try await inspect(server.url)
    #expect(!empty.exists && empty.format == nil && empty.files.isEmpty)
    let engine = try await RedisPlugin().open(server.url)
    try await engine.put("cities/a", "1")
    try await engine.close()
    let full = try await inspect(server.url)
    #expect(full.exists && full.format == full.currentFormat && full.path == "\(server.url) (cachectl)")
    #expect(try await inspect(server.url, ["prefix": .text("other")]).exists == false)
    try server.ask("SET", "cachectl:cities/a", "of another program")
    let foreign = try await inspect(server.url)
    #expect(foreign.exists && foreign.format == nil)
  }

  @Test("A store among the keys of many others is found")
  func amongMany() async throws {
    let server = try RedisServer()
    try server.ask("EVAL", "for i = 1, 20000 do redis.call('SET', 'other:' .. i, 1) end", "0")
    #expect(try await inspect(server.url).exists == false)
    let engine = try await RedisPlugin().open(server.url)
    try await engine.put("cities/a", "1")
    #expect(try await inspect(server.url).exists)
    #expect(try await engine.keys() == ["cities/a"])
    try await engine.close()
  }

  @Test(
    "A server that bounds no memory, or that evicts nothing, is said",
    arguments: [
      ("0", "allkeys-lru", "nothing limits the memory"), ("0", "noeviction", "nothing limits the memory"),
      ("1gb", "noeviction", "set allkeys-lru or allkeys-lfu"),
      ("1gb", "volatile-ttl", "set allkeys-lru or allkeys-lfu"),
      ("1gb", "allkeys-random", "set allkeys-lru or allkeys-lfu"), ("1gb", "allkeys-lru", nil),
      ("256mb", "allkeys-lfu", nil),
    ] as [(String, String, String?)])
  func limits(memory: String, policy: String, caution: String?) async throws {
    let server = try RedisServer(["--maxmemory", memory, "--maxmemory-policy", policy])
    let inspection = try await inspect(server.url)
    let limit = ["0": "unlimited", "1gb": "1024 MiB", "256mb": "256 MiB"][memory] ?? ""
    #expect(inspection.limits == "maxmemory \(limit), \(policy)")
    #expect(caution.map { inspection.caution?.contains($0) == true } ?? (inspection.caution == nil))
    withExtendedLifetime(server) {}
  }

  @Test("A server that is away or refuses is not one without a store")
  func failures() async throws {
    let server = try RedisServer(["--requirepass", "right-secret"])
    let refusal = await code { _ = try await inspect(server.url, ["password": .text("wrong")]) }
    #expect(refusal == .permissionDenied)
    server.stop()
    #expect(await code { _ = try await inspect(server.url, ["timeout": .integer(1_000)]) } == .unreachable)
  }
}
