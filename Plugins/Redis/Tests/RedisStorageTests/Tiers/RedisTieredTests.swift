import Foundation
import LMDBStorage
import MemoryStorage
import ResponseStorage
import StorageConformance
import StorageSPI
import Testing

@testable import HiredisStorage

/// Opens each store on the server behind the layer `tiered`, with a folder of its own for near.
private struct TieredPlugin: StoragePlugin {
  let near: any StoragePlugin
  let nearMaxAge: Duration
  let folder: String

  var declaration: EngineDeclaration { layer("").declaration }

  func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
    try await layer(configuration.text("prefix")).open(configuration)
  }

  private func layer(_ name: String) -> TieredLayer {
    TieredLayer(over: RedisPlugin(), near: near, folder: "\(folder)/\(name)", nearMaxAge: nearMaxAge)
  }
}

/// A folder that is removed with the object.
private final class ScratchFolder: Sendable {
  let path = FileManager.default.temporaryDirectory.appendingPathComponent("tiers-\(UUID().uuidString)").path

  deinit { try? FileManager.default.removeItem(atPath: path) }
}

@Suite("Tiers over one server keep the storage contract")
struct RedisTieredConformanceTests {
  private static let server = Result { try RedisServer() }

  @Test("LMDB asks Redis each time", arguments: RedisPlugin().checks)
  func asking(_ check: ConformanceCheck) async throws {
    let folder = ScratchFolder()
    let plugin = TieredPlugin(near: LMDBPlugin(), nearMaxAge: .zero, folder: folder.path)
    #expect(plugin.declaration.capabilities == RedisPlugin().declaration.capabilities)
    try await expectKept(check, plugin, url: try Self.server.get().url)
    withExtendedLifetime(folder) {}
  }

  @Test(
    "LMDB answers for Redis",
    arguments: RedisPlugin().checks.filter { !$0.requiredCapabilities.contains(.shared) })
  func answering(_ check: ConformanceCheck) async throws {
    let folder = ScratchFolder()
    let plugin = TieredPlugin(near: LMDBPlugin(), nearMaxAge: .seconds(3_600), folder: folder.path)
    try await expectKept(check, plugin, url: try Self.server.get().url)
    withExtendedLifetime(folder) {}
  }
}

@Suite("Tiers over a server that is killed and started again between checks")
struct RedisTieredRestartTests {
  @Test func keepsContract() async throws {
    let (folder, server) = (ScratchFolder(), try RedisServer())
    let plugin = TieredPlugin(near: LMDBPlugin(), nearMaxAge: .seconds(3_600), folder: folder.path)
    let checks = RedisPlugin().checks.filter { !$0.requiredCapabilities.contains(.shared) }
    for index in stride(from: 0, to: checks.count, by: 4) {
      try await expectKept(checks[index], plugin, url: server.url)
      server.stop()
      // The port is free when the process has ended.
      try eventually("the server is back") { try? server.start() }
    }
    withExtendedLifetime(folder) {}
  }
}

@Suite("Tiers over one server, on two machines")
struct RedisTieredTests {
  private let folder = ScratchFolder()

  /// A process on `machine`, whose near answers for an hour unless it learns of a change.
  private func open(_ server: RedisServer, _ machine: String, patience: Int64 = patience) async throws
    -> any StorageEngine
  {
    let layer = TieredLayer(
      over: RedisPlugin(), near: LMDBPlugin(), folder: "\(folder.path)/\(machine)", nearMaxAge: .seconds(3_600))
    let values = patient(server.url, ["timeout": .integer(patience)])
    return try await layer.open(
      try EngineConfiguration(for: layer.declaration, values: values, clock: SystemClock()))
  }

  /// The number of reads that near has answered.
  private func nearHits(_ engine: any StorageEngine) async -> Int {
    await engine.tierReporter?.tiers().first?.hits ?? 0
  }

  /// Reads until near answers: then the server is followed, and the entry confirmed.
  private func untilNearAnswers(_ engine: any StorageEngine, _ key: String) async throws {
    let before = await nearHits(engine)
    try await until("near answers") {
      _ = try await engine.text(key)
      let hits = await nearHits(engine)
      return hits > before
    }
  }

  @Test func anotherMachinesChangeIsSeen() async throws {
    let server = try RedisServer()
    let (here, there) = (try await open(server, "here"), try await open(server, "there"))
    let (key, other) = ("cities/a", "cities/b")
    for (number, name) in [key, other].enumerated() {
      try await there.put(name, "0", .sample(checksum: UInt64(number)))
      try await untilNearAnswers(here, name)
    }
    for version in 1...20 {
      try await there.put(key, "\(version)", .sample(checksum: UInt64(100 + version)))
      try await until("the change is seen") { try await here.text(key) == "\(version)" }
      try await untilNearAnswers(here, key)
    }
    var removal = WriteBatch()
    removal.remove(try CacheKey(key))
    try await there.apply(removal)
    try await until("the removal is seen") { try await here.text(key) == nil }
    let hits = await nearHits(here)
    #expect(try await here.text(other) == "0")
    #expect(await nearHits(here) == hits + 1, "the other entry stayed confirmed")
    for engine in [here, there] { try await engine.close() }
    withExtendedLifetime(server) {}
  }

  /// The server is killed, and comes back without what it held.
  @Test func theServerIsKilled() async throws {
    let server = try RedisServer()
    var engine = try await open(server, "here", patience: 2_000)
    try await patiently { try await engine.put("cities/a", "1", .sample(checksum: 1)) }
    try await untilNearAnswers(engine, "cities/a")
    server.stop()
    for _ in 0..<2 {
      #expect(try await engine.text("cities/a") == "1")
      #expect(await code { _ = try await engine.text("cities/c") } == .unreachable)
      try await engine.put("cities/b", "2", .sample(checksum: 2))
      #expect(try await engine.text("cities/b") == "2")
      #expect(engine.tierReporter?.tierWarning?.code == .unreachable)
      try await engine.close()
      engine = try await open(server, "here", patience: 2_000)
    }
    try server.start()
    try await until("the kept write has arrived") {
      _ = try? await engine.statistics()
      return try server.ask("EXISTS", "cachectl:cities/b").integer == 1
    }
    #expect(try await patiently { try await engine.text("cities/a") } == nil)
    #expect(try await patiently { try await engine.text("cities/b") } == "2")
    #expect(engine.tierReporter?.tierWarning == nil)
    try await engine.close()
    withExtendedLifetime(server) {}
  }
}
