import MemoryStorage
import StorageSPI
import Synchronization
import TestStorage
import Testing

@testable import ResponseStorage

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

  /// A write is kept, read back, survives the process, and reaches far.
  @Test func aWriteIsKeptUntilFarIsBack() async throws {
    let engine = try await tiers.open()
    try await engine.store("a")
    tiers.setAway(true)
    try await engine.store("b", at: 1_001)
    try await engine.store("c", at: 1_002)
    try await engine.store("d", "cities/d")
    #expect(try await engine.text("cities/a") == "c")
    #expect(engine.warning?.message.contains("2 writes are kept") == true)
    try await engine.close()
    let next = try await tiers.open()
    #expect(try await next.text("cities/a") == "c")
    #expect(try await tiers.other().text("cities/a") == "a")
    tiers.setAway(false)
    #expect(try await next.statistics().entries == 2)
    #expect(try await tiers.other().text("cities/a") == "c")
    #expect(try await next.text("cities/a") == "c")
    #expect(try await tiers.other().text("cities/d") == "d")
    #expect(next.warning == nil)
  }

  /// In a process that has asked far for nothing else.
  @Test func whatWaitsForFarAnswersWithAWarning() async throws {
    let engine = try await tiers.open()
    tiers.setAway(true)
    try await engine.store("a")
    try await engine.close()
    let next = try await tiers.open()
    #expect(try await next.text("cities/a") == "a")
    try await next.close()
    #expect(next.warning?.code == .unreachable)
    #expect(next.warning?.message.contains("1 write is kept") == true)
  }

  /// What another machine has done meanwhile, what this one wrote, what far holds in the end, and whether a write was
  /// given up.
  struct Meeting: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let others: (text: String, storedAt: Int64)?
    let own: (text: String, storedAt: Int64)
    var expecting: WriteBatch.Expectation?
    let final: String
    var isLost = false
  }

  @Test(arguments: [
    Meeting(testDescription: "nothing happened", others: nil, own: ("b", 1_001), final: "b"),
    Meeting(testDescription: "the other one was earlier", others: ("x", 1_001), own: ("b", 1_002), final: "b"),
    Meeting(testDescription: "the other one was later", others: ("x", 1_003), own: ("b", 1_002), final: "x"),
    Meeting(testDescription: "the same", others: ("b", 1_002), own: ("b", 1_002), final: "b"),
    Meeting(
      testDescription: "what was required holds", others: nil, own: ("b", 1_001), expecting: .checksum(.test("a")),
      final: "b"),
    Meeting(
      testDescription: "what was required holds no more", others: ("x", 1_001), own: ("b", 1_002),
      expecting: .checksum(.test("a")), final: "x", isLost: true),
  ])
  func writesMeet(_ meeting: Meeting) async throws {
    let (engine, other) = (try await tiers.open(), try await tiers.other())
    try await engine.store("a")
    tiers.setAway(true)
    try await engine.store(meeting.own.text, at: meeting.own.storedAt, expecting: meeting.expecting)
    if let others = meeting.others { try await other.store(others.text, at: others.storedAt) }
    tiers.setAway(false)
    #expect(try await engine.statistics().entries == 1)
    #expect(try await engine.text("cities/a") == meeting.final)
    #expect(try await other.text("cities/a") == meeting.final)
    #expect(engine.warning?.code == (meeting.isLost ? .conflict : nil))
  }

  /// Another machine removed it, or far lost all that it had.
  @Test func whatWasRequiredIsGone() async throws {
    let (engine, other) = (try await tiers.open(), try await tiers.other())
    try await engine.store("a")
    tiers.setAway(true)
    try await engine.store("b", at: 1_001, expecting: .checksum(.test("a")))
    try await other.remove("cities/a")
    tiers.setAway(false)
    #expect(try await engine.statistics().entries == 1)
    #expect(try await other.text("cities/a") == "b")
    #expect(engine.warning == nil)
  }

  @Test func aRequirementIsJudgedByWhatNearKnows() async throws {
    let engine = try await tiers.open()
    try await engine.store("a")
    tiers.setAway(true)
    let error = await #expect(throws: CacheError.self) { try await engine.store("b", expecting: .absent) }
    #expect(error?.code == .conflict)
    try await engine.store("b", at: 1_001, expecting: .checksum(.test("a")))
    // On top of the kept one; far must still hold what the first one required.
    try await engine.store("c", at: 1_002, expecting: .checksum(.test("b")))
    tiers.setAway(false)
    #expect(try await engine.statistics().entries == 1)
    #expect(try await tiers.other().text("cities/a") == "c")
  }

  /// A later write or removal through far takes the place of a kept one.
  @Test(arguments: [true, false])
  func aLaterChangeReplacesAKeptWrite(isRemoval: Bool) async throws {
    let engine = try await tiers.open()
    tiers.setAway(true)
    try await engine.store("b")
    tiers.setAway(false)
    if isRemoval { try await engine.remove("cities/a") } else { try await engine.store("c", at: 1_001) }
    #expect(try await engine.statistics().entries == (isRemoval ? 0 : 1))
    #expect(try await engine.text("cities/a") == (isRemoval ? nil : "c"))
  }

  /// Passing on and removing take turns, so that an entry is not there again after its removal.
  @Test func aRemovalIsNotUndone() async throws {
    let engine = try await tiers.open()
    tiers.setAway(true)
    try await engine.store("b")
    tiers.setAway(false)
    let removal = Removal()
    tiers.beforeNextBatch {
      removal.task.withLock { $0 = Task { try await engine.remove("cities/a") } }
    }
    #expect(try await engine.statistics().entries <= 1)
    let task = try #require(removal.task.withLock { $0 }, "the write was on its way")
    try await task.value
    #expect(try await engine.statistics().entries == 0)
    #expect(try await engine.text("cities/a") == nil)
    #expect(engine.warning == nil)
  }

  @Test func nearAnswersWithTheLatestWhenFarIsAwayAgain() async throws {
    let engine = try await tiers.open()
    try await engine.store("a")
    tiers.setAway(true)
    try await engine.store("b", at: 1_001)
    tiers.setAway(false)
    #expect(try await engine.statistics().entries == 1)
    tiers.setAway(true)
    #expect(try await engine.text("cities/a") == "b")
  }

  /// Values that were decoded before must not be used again.
  @Test func changesAreNotCountedWhileWritesWait() async throws {
    tiers.countChanges()
    let engine = try await tiers.open()
    try await engine.store("a")
    let counter = try #require(engine.changeCounter)
    let before = try #require(try counter.changeCount())
    tiers.setAway(true)
    try await engine.store("b", at: 1_001)
    #expect(try counter.changeCount() == nil)
    tiers.setAway(false)
    #expect(try await engine.statistics().entries == 1)
    #expect(try #require(try counter.changeCount()) != before)
  }

  /// What is acknowledged must not go with the process.
  @Test func nothingIsKeptInMemory() async throws {
    let layer = TieredLayer(over: DistantPlugin(), near: MemoryPlugin(), folder: "/near")
    let engine = try await layer.open(EngineConfiguration(for: layer.declaration, clock: tiers.clock))
    let error = await #expect(throws: CacheError.self) { try await engine.store("a") }
    #expect(error?.code == .unreachable)
  }

  @Test func nearNeedsAFolder() async throws {
    let layer = TieredLayer(over: MemoryPlugin(), near: DistantPlugin(), folder: "/near")
    let error = await #expect(throws: CacheError.self) {
      try await layer.open(EngineConfiguration(for: layer.declaration, clock: tiers.clock))
    }
    #expect(error?.code == .invalidOption)
  }

  @Test func keptWritesAreLimited() async throws {
    let engine = try await tiers.open()
    tiers.setAway(true)
    for first in stride(from: 0, to: PendingWrites.maximumEntries, by: 1_000) {
      var batch = WriteBatch()
      for number in first..<first + 1_000 {
        batch.put(
          try CacheKey("cities/\(number)"), payload: [1],
          metadata: EntryMetadata(
            storedAt: Timestamp(milliseconds: 1), freshUntil: .distantFuture, retainUntil: .distantFuture,
            contentType: "text/plain", checksum: UInt64(number)))
      }
      try await engine.apply(batch)
    }
    let error = await #expect(throws: CacheError.self) { try await engine.store("a", "cities/one-more") }
    #expect(error?.code == .unreachable)
    tiers.setAway(false)
    #expect(try await engine.statistics().entries == PendingWrites.maximumEntries)
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

/// A removal on its way.
private final class Removal: Sendable {
  let task = Mutex<Task<Void, any Error>?>(nil)
}

/// An engine on a server that is away.
private struct DistantPlugin: StoragePlugin {
  let declaration = EngineDeclaration(
    name: "distant", version: "1", summary: "for tests", capabilities: [.persistent, .shared], options: [])

  func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
    throw CacheError(.unreachable, "the server is away")
  }
}
