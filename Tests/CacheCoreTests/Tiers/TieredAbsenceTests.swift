import EngineAPI
import TestStorage
import Testing
@testable import CacheCore

@Suite("While the remote store is away") struct TieredAbsenceTests {
  private let tiers = TestTiers()

  /// Whether the process was there before the remote store was away.
  @Test(arguments: [true, false]) func copiesAreServedWithAWarning(wasOpen: Bool) async throws {
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

  /// A miss would be wrong, because nobody knows the content of the remote store.
  @Test func anExpiredCopyIsNotServed() async throws {
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

  /// A write fails as without a local store, and does not change the remote store.
  @Test(arguments: [CacheError.Code.unreachable, .busy]) func aWriteFails(_ code: CacheError.Code) async throws {
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
  @Test(arguments: [true, false]) func anotherMachinesChangeIsSeenAfterwards(wasOpen: Bool) async throws {
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

@Suite("Versions that were seen in the remote store") struct ConfirmationsTests {
  private let confirmations = Confirmations(maxAge: .seconds(60))

  private func moment(_ digest: UInt64, change: UInt64? = 0, at seconds: Int64 = 1_000) -> Confirmations.Moment {
    confirmations.moment(digest, change, Timestamp(milliseconds: seconds * 1_000))
  }

  private func confirm(_ digest: UInt64) -> Bool { confirmations.confirm(1, moment(digest)) }

  private func isConfirmed(_ digest: UInt64) -> Bool { confirmations.isConfirmed(1, moment(digest)) }

  /// Keys do not share confirmations: these digests are spread like the digests of keys.
  @Test func manyKeysAreConfirmedAtOnce() {
    let digests = (0..<100_000 as Range<UInt64>).map { $0 &* 0x9E37_79B9_7F4A_7C15 }
    #expect(digests.allSatisfy(confirm) && digests.allSatisfy(isConfirmed))
  }

  /// More keys than are remembered cost reads of the remote store, and no more memory.
  @Test func aFullPartStartsAgain() {
    let digests = (0...UInt64(Confirmations.maximumPerPart)).map { $0 << 8 }
    for digest in digests { #expect(confirm(digest)) }
    #expect(digests.filter(isConfirmed) == [digests[digests.count - 1]])
  }

  @Test func aConfirmationIsOfOneVersion() {
    #expect(confirm(7) && isConfirmed(7))
    #expect(!confirmations.isConfirmed(2, moment(7)) && !isConfirmed(8))
  }

  @Test(arguments: [(1_000, true), (1_059, true), (1_060, false), (999, false)] as [(Int64, Bool)])
  func aConfirmationHoldsForItsAge(seconds: Int64, holds: Bool) {
    #expect(confirm(7))
    #expect(confirmations.isConfirmed(1, moment(7, at: seconds)) == holds)
  }

  /// `nil` for a remote engine that cannot tell.
  @Test(arguments: [(1, 1, true), (1, 2, false), (1, nil, false), (nil, 1, false), (nil, nil, false)])
  func aConfirmationHoldsWhileNothingChanges(then: UInt64?, now: UInt64?, holds: Bool) {
    #expect(confirmations.confirm(1, moment(7, change: then)))
    #expect(confirmations.isConfirmed(1, moment(7, change: now)) == holds)
  }

  @Test func aReadThatBeganBeforeTheEndOfAChangeConfirmsNothing() {
    #expect(confirm(7))
    let before = moment(7)
    confirmations.beginChange(7)
    let during = moment(7)
    #expect(!isConfirmed(7) && !confirmations.confirm(1, before) && !confirmations.confirm(1, during))
    confirmations.endChange(7)
    #expect(!confirmations.confirm(1, before) && !confirmations.confirm(1, during) && !isConfirmed(7))
    #expect(confirm(7) && isConfirmed(7))
  }

  @Test func changesAtTheSameTimeEndWithTheLast() {
    confirmations.beginChange(7)
    confirmations.beginChange(7)
    confirmations.endChange(7)
    #expect(!confirm(7))
    confirmations.endChange(7)
    #expect(confirm(7))
  }
}
