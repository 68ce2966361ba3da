import Foundation
import LMDBStorage
import MemoryStorage
import EngineConformance
import EngineAPI
import Synchronization
import Testing

@testable import CacheCore
@testable import RedisStorage

/// Opens each store on the server behind the layer `tiered`, each with its own local store.
private struct TieredPlugin: StoragePlugin {
  let localMaxAge: Duration
  let folder: ScratchFolder

  var declaration: EngineDeclaration { layer("").declaration }

  func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
    try await layer(configuration.text("prefix")).open(configuration)
  }

  private func layer(_ name: String) -> TieredLayer {
    TieredLayer(over: RedisPlugin(), local: .lmdb(path: "\(folder.path)/\(name)"), localMaxAge: localMaxAge)
  }

  /// Runs `check` on the server at `url`, with a seed that a failure names.
  func expectKept(_ check: ConformanceCheck, url: String) async throws {
    let subject = try ConformanceSubject(plugin: self, values: patient(url), scratchFolder: "/unused")
    let report = await ConformanceSuite.run(subject, only: [check])
    let outcome = try #require(report.outcomes.first)
    #expect(outcome.result == .passed, "\(check.summary); seed \(report.seed): \(outcome.message)")
  }
}

/// A folder that is removed with the object.
private final class ScratchFolder: Sendable {
  let path = FileManager.default.temporaryDirectory.appendingPathComponent("tiers-\(UUID().uuidString)").path

  deinit { try? FileManager.default.removeItem(atPath: path) }
}

@Suite("A local store in front of a server keeps the storage contract")
struct RedisTieredConformanceTests {
  private static let server = Result { try RedisServer() }
  private static let checks = ConformanceSuite.checks.filter {
    RedisPlugin().declaration.capabilities.isSuperset(of: $0.requiredCapabilities)
  }
  /// Those of sharing: a layer promises it only if it reads the server each time.
  private static let sharing = checks.filter { $0.requiredCapabilities.contains(.shared) }
  private static let others = checks.filter { !$0.requiredCapabilities.contains(.shared) }
  private static let lanes = 3

  @Test("LMDB reads Redis each time", arguments: sharing)
  func reading(_ check: ConformanceCheck) async throws {
    let plugin = TieredPlugin(localMaxAge: .zero, folder: ScratchFolder())
    #expect(plugin.declaration.capabilities == RedisPlugin().declaration.capabilities)
    try await plugin.expectKept(check, url: try Self.server.get().url)
  }

  @Test("LMDB answers for Redis, which is killed and started again between checks", arguments: 0..<lanes)
  func restarts(_ lane: Int) async throws {
    let server = try RedisServer()
    let plugin = TieredPlugin(localMaxAge: .seconds(3_600), folder: ScratchFolder())
    for index in stride(from: lane, to: Self.others.count, by: Self.lanes) {
      try await plugin.expectKept(Self.others[index], url: server.url)
      server.stop()
      // The port is free when the process has ended.
      try eventually("the server is back") { try? server.start() }
    }
  }
}

@Suite("Local stores in front of one server, on two machines")
struct RedisTieredTests {
  private let folder = ScratchFolder()

  /// A process on `machine`, whose copies are served for `localMaxAge` unless it learns of a change.
  private func open(
    _ server: RedisServer, _ machine: String, inMemory: Bool = false,
    localMaxAge: Duration = .seconds(3_600), patience: Int64 = patience
  ) async throws -> any StorageEngine {
    let local = inMemory ? StorageLocation.memory : .lmdb(path: "\(folder.path)/\(machine)")
    let layer = TieredLayer(over: RedisPlugin(), local: local, localMaxAge: localMaxAge)
    let values = patient(server.url, ["timeout": .integer(patience)])
    return try await layer.open(
      try EngineConfiguration(for: layer.declaration, values: values, clock: SystemClock()))
  }

  /// The number of reads that were served from copies.
  private func localHits(_ engine: any StorageEngine) -> UInt64 {
    engine.tiered?.localHits.load(ordering: .relaxed) ?? 0
  }

  /// Reads until a copy is served: then the server is followed, and the entry confirmed.
  private func untilACopyAnswers(_ engine: any StorageEngine, _ key: String) async throws {
    let before = localHits(engine)
    try await until("a copy answers") {
      _ = try await engine.text(key)
      return localHits(engine) > before
    }
  }

  @Test func anotherMachinesChangeIsSeen() async throws {
    let server = try RedisServer()
    let (here, there) = (try await open(server, "here"), try await open(server, "there"))
    let (key, other) = ("cities/a", "cities/b")
    for (number, name) in [key, other].enumerated() {
      try await there.put(name, "0", .sample(checksum: UInt64(number)))
      try await untilACopyAnswers(here, name)
    }
    for version in 1...20 {
      try await there.put(key, "\(version)", .sample(checksum: UInt64(100 + version)))
      try await until("the change is seen") { try await here.text(key) == "\(version)" }
      try await untilACopyAnswers(here, key)
    }
    var batch = WriteBatch()
    batch.remove(try CacheKey(key))
    let removal = batch
    // A follower that waited long for the processor may have lost its connection, and with it its confirmations.
    try await until("the other entry stays confirmed while one changes") {
      try await untilACopyAnswers(here, other)
      try await there.put(key, "1")
      try await until("the change is seen") { try await here.text(key) == "1" }
      try await there.apply(removal)
      try await until("the removal is seen") { try await here.text(key) == nil }
      let hits = localHits(here)
      #expect(try await here.text(other) == "0")
      return localHits(here) == hits + 1
    }
    for engine in [here, there] { try await engine.close() }
    withExtendedLifetime(server) {}
  }

  /// The time is that from the end of a write on one machine to the first read on the other that has it. The old value is
  /// all that a read may have until then.
  @Test(arguments: [false, true])
  func anotherMachinesChangeIsSeenSoon(inMemory: Bool) async throws {
    let server = try RedisServer()
    let here = try await open(server, "here", inMemory: inMemory)
    let there = try await open(server, "there", inMemory: inMemory)
    let key = "cities/a"
    try await there.put(key, "0", .sample(checksum: 0))
    try await untilACopyAnswers(here, key)
    var times: [Duration] = []
    for version in 1...(Load.isThorough ? 2_000 : 100) {
      try await there.put(key, "\(version)", .sample(checksum: UInt64(version)))
      let start = ContinuousClock.now
      while case let text = try await here.text(key), text != "\(version)" {
        #expect(text == "\(version - 1)")
        try #require(start.duration(to: .now) < .seconds(60))
      }
      times.append(start.duration(to: .now))
      try await untilACopyAnswers(here, key)
    }
    times.sort()
    let (median, last) = (times[times.count / 2], times[times.count - 1])
    Load.report(
      "a change is seen through \(inMemory ? "memory" : "LMDB") after \(median), longest \(last); a read of the server takes \(try await timeOfRead(server))"
    )
    #expect(median < .seconds(1), "The other machine gets a message at once, and does not poll")
    for engine in [here, there] { try await engine.close() }
  }

  /// The median time of a read without a local store.
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

  /// No process of ours changes the entry: someone empties the server, or removes the entry by hand.
  @Test(arguments: [["FLUSHALL"], ["DEL", "cachectl:cities/a"]])
  func entriesRemovedByHandDisappearSoon(_ command: [String]) async throws {
    let server = try RedisServer()
    let engine = try await open(server, "here")
    try await engine.put("cities/a", "1")
    try await untilACopyAnswers(engine, "cities/a")
    try server.cli(command)
    try await until("the removal is seen") { try await engine.text("cities/a") == nil }
    try await engine.close()
    withExtendedLifetime(server) {}
  }

  /// The server is killed, and starts again without its data.
  @Test func theServerIsKilled() async throws {
    let server = try RedisServer()
    var engine = try await open(server, "here", patience: 2_000)
    try await patiently { try await engine.put("cities/a", "1", .sample(checksum: 1)) }
    try await untilACopyAnswers(engine, "cities/a")
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
    // Copies are served until the loss of the server is noticed.
    try await until("the server answers again") { try await patiently { try await engine.text("cities/a") } == nil }
    try await patiently { try await engine.put("cities/b", "2", .sample(checksum: 2)) }
    #expect(engine.tiered?.tierWarning == nil)
    try await engine.close()
    withExtendedLifetime(server) {}
  }
}
