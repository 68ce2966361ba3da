import StorageSPI
import Testing

@testable import HiredisStorage

@Suite("What there is of a store is asked of the server")
struct RedisInspectionTests {
  private func inspect(
    _ plugin: any StoragePlugin = RedisPlugin(), _ url: String, _ values: [String: OptionValue] = [:]
  ) async throws -> StoreInspection {
    return try await plugin.inspect(
      try EngineConfiguration(for: plugin.declaration, values: patient(url, values), clock: SystemClock()))
  }

  @Test("A store is there once it was written to")
  func presence() async throws {
    let server = try RedisServer()
    let empty = try await inspect(RedisPlugin(), server.url)
    #expect(!empty.exists && empty.format == nil && empty.files.isEmpty)
    let engine = try await RedisPlugin().open(server.url)
    try await engine.put("cities/a", "1")
    try await engine.close()
    let full = try await inspect(RedisPlugin(), server.url)
    #expect(full.exists && full.format == full.currentFormat && full.path == "\(server.url) (cachectl)")
    #expect(try await inspect(RedisPlugin(), server.url, ["prefix": .text("other")]).exists == false)
    try server.ask("HSET", "cachectl:tally", "format", "3")
    #expect(try await inspect(RedisPlugin(), server.url).format == 3)
  }

  @Test(
    "A server that may evict the index is said",
    arguments: [
      ("0", "allkeys-lru", false), ("1gb", "allkeys-lru", true), ("1gb", "allkeys-random", true),
      ("1gb", "noeviction", false), ("1gb", "volatile-ttl", false),
    ])
  func caution(memory: String, policy: String, isSaid: Bool) async throws {
    let server = try RedisServer(["--maxmemory", memory, "--maxmemory-policy", policy])
    let caution = try await inspect(RedisPlugin(), server.url).caution
    #expect((caution != nil) == isSaid && caution?.contains(policy) ?? true, "\(caution ?? "")")
    withExtendedLifetime(server) {}
  }

  @Test("A server that is away or refuses is not one without a store")
  func failures() async throws {
    let server = try RedisServer(["--requirepass", "right-secret"])
    let refusal = await code { _ = try await inspect(RedisPlugin(), server.url, ["password": .text("wrong")]) }
    #expect(refusal == .permissionDenied)
    server.stop()
    #expect(await code { _ = try await inspect(RedisPlugin(), server.url) } == .unreachable)
  }

  @Test("A database that the server does not have is a mistake in the option")
  func database() async throws {
    let server = try RedisServer()
    let error = await #expect(throws: CacheError.self) { _ = try await RedisPlugin().open("\(server.url)/99") }
    #expect(error?.code == .invalidOption)
    #expect(error?.message.contains("option 'url'") == true && error?.message.contains("99") == true)
    #expect(error?.hint.contains("0 to 15") == true, "\(error?.hint ?? "")")
  }
}
