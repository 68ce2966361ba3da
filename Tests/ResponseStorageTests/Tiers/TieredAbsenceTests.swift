import MemoryStorage
import StorageSPI
import TestStorage
import Testing

@testable import CacheCore

@Suite("While far is away")
struct TieredAbsenceTests {
  private let tiers = TestTiers()

  /// Whether the process was there before far went.
  @Test(arguments: [true, false])
  func nearAnswersWithAWarning(wasOpen: Bool) async throws {
    var engine = try await tiers.open()
    try await engine.store("a")
    tiers.setAway(true)
    if !wasOpen { engine = try await tiers.open() }
    tiers.wait(.seconds(3_600))
    #expect(try await engine.text("cities/a") == "a")
    #expect(engine.warning?.code == .unreachable)
    await #expect(throws: CacheError.self, "not a miss") { try await engine.text("cities/b") }
    tiers.setAway(false)
    #expect(try await engine.text("cities/b") == nil)
    #expect(engine.warning == nil)
  }

  @Test func aRemovalFails() async throws {
    let engine = try await tiers.open()
    try await engine.store("a")
    tiers.setAway(true)
    let error = await #expect(throws: CacheError.self) { try await engine.remove("cities/a") }
    #expect(error?.code == .unreachable)
    #expect(try await engine.text("cities/a") == "a")
  }

  /// A write fails as it does without near, and leaves in near what far had.
  @Test(arguments: [CacheError.Code.unreachable, .busy])
  func aWriteFails(_ code: CacheError.Code) async throws {
    let engine = try await tiers.open()
    try await engine.store("a")
    tiers.setAway(true, code)
    let error = await #expect(throws: CacheError.self) { try await engine.store("b", at: 1_001) }
    #expect(error?.code == code)
    #expect(try await engine.text("cities/a") == "a")
    tiers.setAway(false)
    for machine in [engine, try await tiers.other()] { #expect(try await machine.text("cities/a") == "a") }
  }

  /// Whether the process was there before far went.
  @Test(arguments: [true, false])
  func anotherMachinesChangeIsSeenAfterwards(wasOpen: Bool) async throws {
    var engine = try await tiers.open()
    try await engine.store("a")
    tiers.setAway(true)
    if !wasOpen { engine = try await tiers.open() }
    try await tiers.other().store("b", at: 1_001)
    await #expect(throws: CacheError.self) { try await engine.store("c", at: 1_002) }
    tiers.setAway(false)
    #expect(try await engine.text("cities/a") == "b")
  }

  @Test func nearNeedsAFolder() async throws {
    let layer = TieredLayer(over: MemoryPlugin(), near: DistantPlugin(), folder: "/near")
    let error = await #expect(throws: CacheError.self) {
      try await layer.open(EngineConfiguration(for: layer.declaration, clock: tiers.clock))
    }
    #expect(error?.code == .invalidOption)
  }

  @Test func aLeaseCannotBeTaken() async throws {
    let engine = try await tiers.open()
    tiers.setAway(true)
    let error = await #expect(throws: CacheError.self) { try await engine.store("lease", "leases/a") }
    #expect(error?.code == .unreachable)
  }

  @Test func otherFailuresOfFarAreFailures() async throws {
    let engine = try await tiers.open()
    try await engine.store("a")
    let far = try #require(tiers.firstFar)
    far.breakDown(CacheError(.damaged, "far is damaged"))
    tiers.wait(.seconds(61))
    let error = await #expect(throws: CacheError.self) { try await engine.text("cities/a") }
    #expect(error?.code == .damaged)
  }
}

/// An engine on a server that is away.
private struct DistantPlugin: StoragePlugin {
  let declaration = EngineDeclaration(
    name: "distant", version: "1", summary: "for tests", capabilities: [.persistent, .shared], options: [])

  func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
    throw CacheError(.unreachable, "the server is away")
  }
}
