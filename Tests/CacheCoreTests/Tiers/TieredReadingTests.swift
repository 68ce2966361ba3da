import EngineAPI
import Synchronization
import TestStorage
import Testing

@testable import CacheCore

@Suite("A local copy answers if the remote store has the same version") struct TieredReadingTests {
  private let tiers = TestTiers()

  @Test func remoteEntriesAreCopied() async throws {
    try await tiers.other().store("a")
    let engine = try await tiers.open()
    for _ in 0..<3 { #expect(try await engine.text("cities/a") == "a") }
    #expect(tiers.remoteReads == 1)
    #expect(try await tiers.localAlone().text("cities/a") == "a")
  }

  /// The first read after a write confirms the copy.
  @Test func writesAreInBothStores() async throws {
    let engine = try await tiers.open()
    try await engine.store("a")
    for store in [try await tiers.other(), try await tiers.localAlone()] {
      #expect(try await store.text("cities/a") == "a")
    }
    let writes = try #require(tiers.firstLocal).batches.count
    for _ in 0..<3 { #expect(try await engine.text("cities/a") == "a") }
    #expect(try tiers.remoteReads == 1 && #require(tiers.firstLocal).batches.count == writes, "it is not copied again")
    try await engine.remove("cities/a")
    for store in [engine, try await tiers.other(), try await tiers.localAlone()] {
      #expect(try await store.text("cities/a") == nil)
    }
  }

  /// The local copy is renewed too, if there is one, and otherwise read.
  @Test(arguments: [true, false]) func aRenewalIsInBoth(hasCopy: Bool) async throws {
    if !hasCopy { try await tiers.other().store("a") }
    let engine = try await tiers.open()
    if hasCopy { try await engine.store("a") }
    try await engine.renew("a", at: 1_001)
    for tier in [engine, try await tiers.other(), try await tiers.localAlone()] {
      let storedAt = try await tier.read(try CacheKey("cities/a")) { _, metadata in metadata.storedAt }
      #expect(storedAt == Timestamp(milliseconds: 1_001_000))
    }
    #expect(try await engine.text("cities/a") == "a")
    #expect(tiers.remoteReads == 1)
    let conflict = await #expect(throws: CacheError.self) { try await engine.renew("a", at: 1_002) }
    #expect(conflict?.code == .conflict)
    #expect(try await engine.text("cities/a") == "a")
  }

  /// Another machine's change is seen when the copy's time is over, and no later.
  @Test(arguments: [true, false]) func anotherMachinesChangeIsSeenInTime(isRemoval: Bool) async throws {
    let (engine, other) = (try await tiers.open(), try await tiers.other())
    try await other.store("a")
    #expect(try await engine.text("cities/a") == "a")
    if isRemoval { try await other.remove("cities/a") } else { try await other.store("b") }
    tiers.advance(by: .seconds(59))
    #expect(try await engine.text("cities/a") == "a")
    tiers.advance(by: .seconds(1))
    #expect(try await engine.text("cities/a") == (isRemoval ? nil : "b"))
    #expect(try await tiers.localAlone().text("cities/a") == (isRemoval ? nil : "b"))
  }

  /// If the remote engine follows changes, a changed mark ends the use of a copy at once. An unchanged mark does not
  /// extend it, because not every change of a store is announced.
  @Test func aChangedMarkEndsTheUseOfACopy() async throws {
    let (engine, other) = (try await tiers.open(isFollowing: true), try await tiers.other())
    tiers.say(1)
    try await other.store("a")
    for _ in 0..<2 { #expect(try await engine.text("cities/a") == "a" && tiers.remoteReads == 1) }
    try await other.store("b")
    #expect(try await engine.text("cities/a") == "a" && tiers.remoteReads == 1, "the change is not announced yet")
    tiers.say(2)
    for _ in 0..<2 { #expect(try await engine.text("cities/a") == "b" && tiers.remoteReads == 2) }
    tiers.advance(by: .seconds(60))
    for _ in 0..<2 { #expect(try await engine.text("cities/a") == "b" && tiers.remoteReads == 3) }
  }

  /// A copy is served only while the remote engine says that nothing has changed.
  @Test func withoutMarksTheRemoteStoreIsRead() async throws {
    let (engine, other) = (try await tiers.open(isFollowing: true), try await tiers.other())
    try await other.store("a")
    for reads in 1...2 { #expect(try await engine.text("cities/a") == "a" && tiers.remoteReads == reads) }
    try await other.store("b")
    tiers.say(1)
    for _ in 0..<2 { #expect(try await engine.text("cities/a") == "b" && tiers.remoteReads == 3) }
    tiers.say(nil)
    for reads in 4...5 { #expect(try await engine.text("cities/a") == "b" && tiers.remoteReads == reads) }
    // The numbers are others after changes may have been missed.
    tiers.say(9)
    for _ in 0..<2 { #expect(try await engine.text("cities/a") == "b" && tiers.remoteReads == 6) }
  }

  /// A copy that another process has left, or a backup, may be older than the remote store.
  @Test func aNewProcessReadsTheRemoteStoreOnce() async throws {
    let first = try await tiers.open()
    try await first.store("a")
    #expect(try await first.text("cities/a") == "a")
    try await tiers.other().store("b")
    #expect(try await tiers.localAlone().text("cities/a") == "a")
    let reads = tiers.remoteReads
    let engine = try await tiers.open()
    for _ in 0..<3 { #expect(try await engine.text("cities/a") == "b") }
    #expect(tiers.remoteReads == reads + 1)
    #expect(try await tiers.localAlone().text("cities/a") == "b")
  }

  /// Two processes share the local store, and each puts its own version there: the one that the other has not seen in the
  /// remote store is not served by it.
  @Test func aCopyOfAnotherProcessIsNotTrusted() async throws {
    let (first, second, other) = (try await tiers.open(), try await tiers.open(), try await tiers.other())
    try await other.store("a")
    #expect(try await first.text("cities/a") == "a")
    try await other.store("b")
    #expect(try await second.text("cities/a") == "b")
    #expect(try await first.text("cities/a") == "b", "the copy is not the one that was confirmed")
    try await tiers.localAlone().store("a")
    for engine in [first, second] { #expect(try await engine.text("cities/a") == "b") }
  }

  /// Another machine may have revalidated it.
  @Test func aStaleEntryIsReadFromTheRemoteStore() async throws {
    let (engine, other) = (try await tiers.open(localMaxAge: .seconds(3_600)), try await tiers.other())
    try await engine.store("a", at: 1_000)
    #expect(try await engine.text("cities/a") == "a")
    tiers.advance(by: .seconds(601))
    try await other.store("b", at: 1_601)
    #expect(try await engine.text("cities/a") == "b")
  }

  @Test func leasesAreInTheRemoteStoreAlone() async throws {
    let engine = try await tiers.open()
    try await engine.store("lease", "leases/a")
    for reads in 1...2 { #expect(try await engine.text("leases/a") == "lease" && tiers.remoteReads == reads) }
    let reports = await engine.tiered?.tiers()
    #expect(reports?.map { $0.count?.entries } == [0, 1])
  }

  /// A write between the remote store's response and its arrival.
  @Test func anOvertakenReadIsNotTrusted() async throws {
    try await tiers.other().store("a")
    let engine = try await tiers.open()
    let remote = try #require(tiers.firstRemote)
    remote.faults.after = { call, _ throws(CacheError) in
      guard case .read = call else { return }
      remote.faults = Faults()
      do { try await engine.store("b") } catch { throw CacheError(.failed, "\(error)") }
    }
    #expect(try await engine.text("cities/a") == "a", "this was read before")
    for _ in 0..<2 { #expect(try await engine.text("cities/a") == "b") }
  }

  /// A read finds the old entry while a write is in progress, and returns after the write.
  @Test func aReadFromBeforeAWriteIsNotTrustedAfterIt() async throws {
    try await tiers.other().store("a")
    let engine = try await tiers.open()
    let remote = try #require(tiers.firstRemote)
    let (found, written) = (AsyncStream<Void>.makeStream(), AsyncStream<Void>.makeStream())
    let reader = Mutex<Task<String?, any Error>?>(nil)
    remote.faults.after = { call, _ throws(CacheError) in
      guard case .read = call else { return }
      found.continuation.finish()
      for await _ in written.stream {}
    }
    remote.beforeBatches { _ throws(CacheError) in
      reader.withLock { $0 = Task { try await engine.text("cities/a") } }
      for await _ in found.stream {}
    }
    try await engine.store("b")
    written.continuation.finish()
    #expect(try await reader.withLock { $0 }?.value == "a")
    remote.faults = Faults()
    for _ in 0..<2 { #expect(try await engine.text("cities/a") == "b") }
  }

  @Test func theLocalStoreKeepsToItsOwnLimits() async throws {
    let engine = try await tiers.open(limits: StoreLimits(maxEntries: 3, maxBytes: 10))
    for number in 0..<10 { try await engine.store("\(number)", "cities/\(number)") }
    let reports = try #require(await engine.tiered?.tiers())
    #expect(reports.map(\.name) == ["local", "remote"])
    #expect(reports.map { $0.count?.entries } == [3, 10])
    for number in 0..<10 { #expect(try await engine.text("cities/\(number)") == "\(number)") }
    // An entry that is too large for the local store removes the copy that is out of date.
    for _ in 0..<2 { #expect(try await engine.text("cities/9") == "9") }
    try await tiers.other().store("a long text", "cities/9")
    tiers.advance(by: .seconds(60))
    #expect(try await engine.text("cities/9") == "a long text")
    #expect(try await tiers.localAlone().text("cities/9") == nil)
  }

  /// A sample of the hits is enough to keep the used entries.
  @Test func aCopyThatIsReadOftenIsNotEvicted() async throws {
    let engine = try await tiers.open(limits: StoreLimits(maxEntries: 4, maxBytes: 1 << 20))
    for number in 0..<40 {
      tiers.advance(by: .milliseconds(10))
      try await engine.store("\(number)", "cities/\(number)")
      tiers.advance(by: .milliseconds(10))
      for _ in 0..<100 { #expect(try await engine.text("cities/0") == "0") }
    }
    #expect(try await tiers.localAlone().text("cities/0") == "0")
  }

  @Test(arguments: [CacheError.Code.damaged, .ioFailed, .noSpace])
  func theRemoteEngineServesReadsThatTheLocalOneCannot(code: CacheError.Code) async throws {
    let engine = try await tiers.open()
    try await engine.store("a")
    let local = try #require(tiers.firstLocal)
    local.breakDown(CacheError(code, "the local engine is broken"))
    #expect(try await engine.text("cities/a") == "a")
    try await engine.store("b")
    #expect(try await engine.text("cities/a") == "b")
    // A damaged store was replaced, and works again.
    if code != .damaged { local.breakDown(nil) }
    #expect(try await engine.text("cities/a") == "b")
    let reads = tiers.remoteReads
    #expect(try await engine.text("cities/a") == "b")
    #expect(tiers.remoteReads == reads)
  }

  /// If a caller finds a copy damaged, the entry is read from the remote store and copied again. The other copies stay.
  @Test func aDamagedCopyIsReplaced() async throws {
    let engine = try await tiers.open()
    try await engine.store("a")
    try await engine.store("b", "cities/b")
    for key in ["cities/a", "cities/b"] { _ = try await engine.text(key) }
    let local = try #require(tiers.firstLocal)
    local.alter { entry in (entry.key, entry.key.text == "cities/a" ? [0] : entry.payload, entry.metadata) }
    let reads = tiers.remoteReads
    let text = try await engine.read(try CacheKey("cities/a")) { bytes, _ throws(CacheError) in
      if bytes[0] == 0 { throw CacheError(.damaged, "not as it was written") }
      return bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    }
    #expect(text == "a" && tiers.remoteReads == reads + 1)
    guard case .put(let key, let payload, _)? = local.batches.last?.operations.first else {
      Issue.record("it was not copied")
      return
    }
    #expect(key.text == "cities/a" && payload == Array("a".utf8))
    #expect(try await engine.text("cities/b") == "b" && tiers.remoteReads == reads + 1)
  }

  /// The caller's other failures are not the copy's.
  @Test func aFailureOfTheCallerIsThrown() async throws {
    let engine = try await tiers.open()
    try await engine.store("a")
    _ = try await engine.text("cities/a")
    let reads = tiers.remoteReads
    let error = await #expect(throws: CacheError.self) {
      try await engine.read(try CacheKey("cities/a")) { _, _ throws(CacheError) -> Int in
        throw CacheError(.wrongKey, "sealed with another key")
      }
    }
    #expect(error?.code == .wrongKey && tiers.remoteReads == reads)
  }

  @Test func readNowServesConfirmedCopies() async throws {
    let location = StorageLocation(tiers.local, ["path": .text("/local")])
    let layer = TieredLayer(over: FollowingLayer(over: tiers.remote), local: location)
    let engine = try await layer.open(try EngineConfiguration(for: layer.declaration, clock: tiers.clock))
    let key = Array("cities/a".utf8)
    let other = try await tiers.other()
    try await other.store("a")
    var texts: [String] = []
    func readNow() throws -> Bool? {
      try engine.readNow(key.span) { bytes, _ in
        texts.append(bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) })
      }
    }
    #expect(try readNow() == nil, "only a read can tell")
    #expect(try await engine.text("cities/a") == "a")
    #expect(try readNow() == true && texts == ["a"])
    let error = #expect(throws: CacheError.self) {
      try engine.readNow(key.span) { _, _ throws(CacheError) in throw CacheError(.wrongKey, "sealed") }
    }
    #expect(error?.code == .wrongKey)
    try await other.store("b")
    #expect(try readNow() == nil && texts == ["a"])
    try await engine.close()
  }
}
