import StorageSPI
import TestStorage
import Testing

@testable import CacheCore

@Suite("Near answers where far has the same")
struct TieredReadingTests {
  private let tiers = TestTiers()

  @Test func whatFarAnswersNearThenHas() async throws {
    try await tiers.other().store("a")
    let engine = try await tiers.open()
    for _ in 0..<3 { #expect(try await engine.text("cities/a") == "a") }
    #expect(tiers.farReads == 1)
  }

  @Test func whatIsWrittenIsInBoth() async throws {
    let engine = try await tiers.open()
    try await engine.store("a")
    #expect(try await engine.text("cities/a") == "a")
    #expect(try await tiers.other().text("cities/a") == "a")
    #expect(tiers.farReads == 0)
    try await engine.remove("cities/a")
    #expect(try await engine.text("cities/a") == nil)
    #expect(try await tiers.other().text("cities/a") == nil)
  }

  /// Near renews its copy too, if it has one, and else reads far.
  @Test(arguments: [true, false])
  func aRenewalIsInBoth(isInNear: Bool) async throws {
    if !isInNear { try await tiers.other().store("a") }
    let engine = try await tiers.open()
    if isInNear { try await engine.store("a") }
    try await engine.renew("a", at: 1_001)
    for tier in [engine, try await tiers.other()] {
      let storedAt = try await tier.read(try CacheKey("cities/a")) { _, metadata in metadata.storedAt }
      #expect(storedAt == Timestamp(milliseconds: 1_001_000))
    }
    #expect(try await engine.text("cities/a") == "a")
    #expect(tiers.farReads == (isInNear ? 0 : 1))
    let conflict = await #expect(throws: CacheError.self) { try await engine.renew("a", at: 1_002) }
    #expect(conflict?.code == .conflict)
    #expect(try await engine.text("cities/a") == "a")
  }

  /// Another machine's change is seen when near has answered for long enough, and no later.
  @Test(arguments: [true, false])
  func anotherMachinesChangeIsSeenInTime(isRemoval: Bool) async throws {
    let (engine, other) = (try await tiers.open(), try await tiers.other())
    try await engine.store("a")
    if isRemoval { try await other.remove("cities/a") } else { try await other.store("b") }
    tiers.wait(.seconds(59))
    #expect(try await engine.text("cities/a") == "a")
    tiers.wait(.seconds(1))
    #expect(try await engine.text("cities/a") == (isRemoval ? nil : "b"))
  }

  /// Where far follows changes, a mark that changes ends what near may answer at once. One that stays does not make it
  /// longer: not everything that changes far is announced.
  @Test func marksEndAnswers() async throws {
    let engine = try await tiers.open(isFollowing: true)
    let other = try await tiers.other()
    tiers.say(1)
    try await engine.store("a")
    #expect(try await engine.text("cities/a") == "a" && tiers.farReads == 0)
    try await other.store("b")
    #expect(try await engine.text("cities/a") == "a" && tiers.farReads == 0, "not said yet")
    tiers.say(2)
    for _ in 0..<2 { #expect(try await engine.text("cities/a") == "b" && tiers.farReads == 1) }
    tiers.wait(.seconds(60))
    for _ in 0..<2 { #expect(try await engine.text("cities/a") == "b" && tiers.farReads == 2) }
  }

  /// What was read before far was followed may have changed since.
  @Test func followingBeginsWithFar() async throws {
    try await tiers.other().store("a")
    let engine = try await tiers.open(isFollowing: true)
    for _ in 0..<2 { #expect(try await engine.text("cities/a") == "a" && tiers.farReads == 1) }
    try await tiers.other().store("b")
    tiers.say(1)
    for _ in 0..<2 { #expect(try await engine.text("cities/a") == "b" && tiers.farReads == 2) }
    tiers.say(nil)
    #expect(try await engine.text("cities/a") == "b" && tiers.farReads == 2, "it was confirmed a moment ago")
    // The numbers are others after changes may have been missed.
    tiers.say(9)
    #expect(try await engine.text("cities/a") == "b" && tiers.farReads == 3)
  }

  @Test func aNewProcessAsksFarOnce() async throws {
    try await tiers.open().store("a")
    try await tiers.other().store("b")
    let engine = try await tiers.open()
    for _ in 0..<3 { #expect(try await engine.text("cities/a") == "b") }
    #expect(tiers.farReads == 1)
  }

  /// Another machine may have revalidated it.
  @Test func aStaleEntryIsAskedOfFar() async throws {
    let (engine, other) = (try await tiers.open(), try await tiers.other())
    try await engine.store("a", at: 1_000)
    tiers.advance(by: .seconds(601))
    try await other.store("b", at: 1_601)
    #expect(try await engine.text("cities/a") == "b")
  }

  @Test func leasesAreInFarAlone() async throws {
    let engine = try await tiers.open()
    try await engine.store("lease", "leases/a")
    #expect(try await engine.text("leases/a") == "lease" && tiers.farReads == 1)
    let reports = await engine.tiered?.tiers()
    #expect(reports?.map { $0.count?.entries } == [0, 1])
  }

  /// A write that comes between the answer of far and its arrival.
  @Test func anAnswerThatIsOvertakenIsNotTrusted() async throws {
    try await tiers.other().store("a")
    let engine = try await tiers.open()
    let far = try #require(tiers.firstFar)
    far.faults.after = { call, _ throws(CacheError) in
      guard case .read = call else { return }
      far.faults = Faults()
      do { try await engine.store("b") } catch { throw CacheError(.failed, "\(error)") }
    }
    #expect(try await engine.text("cities/a") == "a", "this was read before")
    #expect(try await engine.text("cities/a") == "b")
  }

  @Test func nearKeepsToItsOwnLimits() async throws {
    let engine = try await tiers.open(limits: StoreLimits(maxEntries: 3, maxBytes: 1 << 20))
    for number in 0..<10 { try await engine.store("\(number)", "cities/\(number)") }
    let reports = try #require(await engine.tiered?.tiers())
    #expect(reports.map { $0.count?.entries } == [3, 10])
    for number in 0..<10 { #expect(try await engine.text("cities/\(number)") == "\(number)") }
  }

  @Test(arguments: [CacheError.Code.damaged, .ioFailed, .noSpace])
  func whatNearCannotAnswerFarDoes(code: CacheError.Code) async throws {
    let engine = try await tiers.open()
    try await engine.store("a")
    let near = try #require(tiers.firstNear)
    near.breakDown(CacheError(code, "near is broken"))
    #expect(try await engine.text("cities/a") == "a")
    try await engine.store("b")
    #expect(try await engine.text("cities/a") == "b")
    // A damaged store was rebuilt, and answers again.
    if code != .damaged { near.breakDown(nil) }
    #expect(try await engine.text("cities/a") == "b")
    let reads = tiers.farReads
    #expect(try await engine.text("cities/a") == "b")
    #expect(tiers.farReads == reads)
  }
}
