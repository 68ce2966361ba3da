import EngineAPI
import TestStorage
import Testing

@testable import CacheCore

@Suite("While the remote store is away")
struct TieredAbsenceTests {
  private let tiers = TestTiers()

  /// Whether the process was there before the remote store was away.
  @Test(arguments: [true, false])
  func copiesAnswerWithAWarning(wasOpen: Bool) async throws {
    var engine = try await tiers.open()
    try await engine.store("a")
    tiers.setAway(true)
    if !wasOpen { engine = try await tiers.open() }
    tiers.advance(by: .seconds(3_600))
    #expect(try await engine.text("cities/a") == "a")
    #expect(engine.warning?.code == .unreachable)
    await #expect(throws: CacheError.self, "not a miss") { try await engine.text("cities/b") }
    tiers.setAway(false)
    #expect(try await engine.text("cities/b") == nil)
    #expect(engine.warning == nil)
  }

  /// Each call of a silent server takes until it times out: a copy waits for that once a second at most.
  @Test func aSilentServerIsCalledOnceASecond() async throws {
    let engine = try await tiers.open(isFollowing: true)
    try await engine.store("a")
    tiers.setAway(true)
    let before = tiers.remoteReads
    for _ in 0..<5 { #expect(try await engine.text("cities/a") == "a") }
    #expect(tiers.remoteReads == before + 1)
    tiers.advance(by: .milliseconds(1_001))
    for _ in 0..<5 { #expect(try await engine.text("cities/a") == "a") }
    #expect(tiers.remoteReads == before + 2)
    // Without a copy only the server can tell.
    for reads in 3...4 {
      await #expect(throws: CacheError.self) { try await engine.text("cities/b") }
      #expect(tiers.remoteReads == before + reads)
    }
    tiers.setAway(false)
    try await tiers.other().store("b")
    #expect(try await engine.text("cities/a") == "b" && engine.warning == nil)
  }

  /// It would pass for a miss, and what the remote store has is not known.
  @Test func anExpiredCopyDoesNotAnswer() async throws {
    let engine = try await tiers.open()
    try await engine.store("a")
    tiers.setAway(true)
    tiers.advance(by: .seconds(6_000))
    // The second read does not wait for the server.
    for _ in 1...2 {
      let error = await #expect(throws: CacheError.self) { try await engine.text("cities/a") }
      #expect(error?.code == .unreachable)
    }
    tiers.setAway(false)
    #expect(try await engine.text("cities/a") == "a")
  }

  @Test func aRemovalFails() async throws {
    let engine = try await tiers.open()
    try await engine.store("a")
    tiers.setAway(true)
    let error = await #expect(throws: CacheError.self) { try await engine.remove("cities/a") }
    #expect(error?.code == .unreachable)
    #expect(try await engine.text("cities/a") == "a")
  }

  /// A write fails as it does without a local store, and leaves there what the remote store had.
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

  /// Whether the process was there before the remote store was away.
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

  @Test func aLeaseCannotBeTaken() async throws {
    let engine = try await tiers.open()
    tiers.setAway(true)
    let error = await #expect(throws: CacheError.self) { try await engine.store("lease", "leases/a") }
    #expect(error?.code == .unreachable)
  }

  @Test func otherFailuresOfTheRemoteStoreAreFailures() async throws {
    let engine = try await tiers.open()
    try await engine.store("a")
    let remote = try #require(tiers.firstRemote)
    remote.breakDown(CacheError(.damaged, "the remote store is damaged"))
    let error = await #expect(throws: CacheError.self) { try await engine.text("cities/a") }
    #expect(error?.code == .damaged)
  }
}
