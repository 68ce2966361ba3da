import Foundation
import LMDBStorage
import MemoryStorage
import StorageConformance
import StorageSPI
import Testing

@testable import HiredisStorage
@testable import CacheCore

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
  /// What a layer of two tiers declares: it does not say what its far tier hears of changes.
  private static let capabilities = RedisPlugin().declaration.capabilities.subtracting([.followsChanges])
  static let checks = RedisPlugin().checks.filter { capabilities.isSuperset(of: $0.requiredCapabilities) }

  @Test("LMDB asks Redis each time", arguments: checks)
  func asking(_ check: ConformanceCheck) async throws {
    let folder = ScratchFolder()
    let plugin = TieredPlugin(near: LMDBPlugin(), nearMaxAge: .zero, folder: folder.path)
    #expect(plugin.declaration.capabilities == Self.capabilities)
    try await expectKept(check, plugin, url: try Self.server.get().url)
    withExtendedLifetime(folder) {}
  }

  @Test(
    "LMDB answers for Redis",
    arguments: checks.filter { !$0.requiredCapabilities.contains(.shared) })
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
    let checks = RedisTieredConformanceTests.checks.filter { !$0.requiredCapabilities.contains(.shared) }
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

  /// A process on `machine`, whose near answers for `nearMaxAge` unless it learns of a change.
  private func open(
    _ server: RedisServer, _ machine: String, near: any StoragePlugin = LMDBPlugin(),
    nearMaxAge: Duration = .seconds(3_600), patience: Int64 = patience
  ) async throws -> any StorageEngine {
    let layer = TieredLayer(
      over: RedisPlugin(), near: near, folder: "\(folder.path)/\(machine)", nearMaxAge: nearMaxAge)
    let values = patient(server.url, ["timeout": .integer(patience)])
    return try await layer.open(
      try EngineConfiguration(for: layer.declaration, values: values, clock: SystemClock()))
  }

  /// The number of reads that near has answered.
  private func nearHits(_ engine: any StorageEngine) async -> Int {
    await engine.tiered?.tiers().first?.hits ?? 0
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
    var batch = WriteBatch()
    batch.remove(try CacheKey(key))
    let removal = batch
    // A follower that had to wait for the processor for long may have lost its connection, and with it what it knew.
    try await until("the other entry stays confirmed while one changes") {
      try await untilNearAnswers(here, other)
      try await there.put(key, "1")
      try await until("the change is seen") { try await here.text(key) == "1" }
      try await there.apply(removal)
      try await until("the removal is seen") { try await here.text(key) == nil }
      let hits = await nearHits(here)
      #expect(try await here.text(other) == "0")
      return await nearHits(here) == hits + 1
    }
    for engine in [here, there] { try await engine.close() }
    withExtendedLifetime(server) {}
  }

  /// The time is that from the end of a write on one machine to the first read on the other that has it. The old value is
  /// all that a read may have until then.
  @Test(arguments: [LMDBPlugin(), MemoryPlugin()] as [any StoragePlugin])
  func anotherMachinesChangeIsSeenSoon(_ near: any StoragePlugin) async throws {
    let server = try RedisServer()
    let (here, there) = (try await open(server, "here", near: near), try await open(server, "there", near: near))
    let key = "cities/a"
    try await there.put(key, "0", .sample(checksum: 0))
    try await untilNearAnswers(here, key)
    var times: [Duration] = []
    for version in 1...(Load.isThorough ? 2_000 : 100) {
      try await there.put(key, "\(version)", .sample(checksum: UInt64(version)))
      let start = ContinuousClock.now
      while case let text = try await here.text(key), text != "\(version)" {
        #expect(text == "\(version - 1)")
        try #require(start.duration(to: .now) < .seconds(60))
      }
      times.append(start.duration(to: .now))
      try await untilNearAnswers(here, key)
    }
    times.sort()
    let (median, last) = (times[times.count / 2], times[times.count - 1])
    Load.report(
      "a change is seen through \(near.declaration.name) after \(median), longest \(last); a read of far takes \(try await timeOfRead(server))"
    )
    #expect(median < .seconds(1), "The other machine is told at once, and does not ask from time to time")
    for engine in [here, there] { try await engine.close() }
  }

  /// The median time of a read without a near.
  private func timeOfRead(_ server: RedisServer) async throws -> Duration {
    let engine = try await RedisPlugin().open(server.url)
    var times: [Duration] = []
    for _ in 0..<100 {
      let start = ContinuousClock.now
      _ = try await engine.text("cities/a")
      times.append(start.duration(to: .now))
    }
    try await engine.close()
    return times.sorted()[50]
  }

  /// No process tells of what FLUSHALL removes.
  @Test(arguments: [LMDBPlugin(), MemoryPlugin()] as [any StoragePlugin])
  func anEmptiedServerIsSeenAfterNearMaxAge(_ near: any StoragePlugin) async throws {
    let (server, nearMaxAge) = (try RedisServer(), Duration.seconds(2))
    let engine = try await open(server, "here", near: near, nearMaxAge: nearMaxAge)
    // On a busy machine the time may be over before near is asked.
    try await until("near answers for a server that is empty") {
      try await engine.put("cities/a", "1")
      try await untilNearAnswers(engine, "cities/a")
      let start = ContinuousClock.now
      try server.ask("FLUSHALL")
      let (end, hits) = (ContinuousClock.now, await nearHits(engine))
      while case let now = ContinuousClock.now, try await engine.text("cities/a") != nil {
        try #require(end.duration(to: now) < nearMaxAge)
      }
      Load.report("FLUSHALL is seen through \(near.declaration.name) after \(start.duration(to: .now))")
      return await nearHits(engine) > hits
    }
    try await engine.close()
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
      #expect(await code { try await engine.put("cities/b", "2", .sample(checksum: 2)) } == .unreachable)
      #expect(engine.tiered?.tierWarning?.code == .unreachable)
      try await engine.close()
      engine = try await open(server, "here", patience: 2_000)
    }
    try server.start()
    // Near answers until far has been noticed.
    try await until("far answers again") { try await patiently { try await engine.text("cities/a") } == nil }
    try await patiently { try await engine.put("cities/b", "2", .sample(checksum: 2)) }
    #expect(engine.tiered?.tierWarning == nil)
    try await engine.close()
    withExtendedLifetime(server) {}
  }
}
