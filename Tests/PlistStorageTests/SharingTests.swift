import EngineAPI
import Foundation
import Synchronization
import Testing

@testable import PlistStorage

/// A handle that uses a store without a pause: it takes the lock again as soon as it has released it, if it can.
private final class RestlessHandle: Sendable {
  private let folder: PlistFolder
  private let isWriter: Bool
  private let held = Mutex(OpenFile?.none)

  init(_ folder: TemporaryFolder, isWriter: Bool) {
    self.folder = PlistFolder(PlistOptions(path: folder.store), FaultySystem().calls)
    self.isWriter = isWriter
  }

  func goOn() {
    held.withLock { held in
      if let file = held { folder.system.unlock(file) }
      held = try? folder.lock(exclusively: isWriter, within: .zero)
    }
  }
}

@Suite struct SharingTests {
  @Test func anotherHandlesChangesAreSeenAtOnce() async throws {
    let folder = try TemporaryFolder()
    let (writer, reader) = (try await folder.open(.relaxed), try await folder.open())
    #expect(try await reader.text("a/1") == nil)
    // Many changes of one size within one tick of the file system's clock.
    for number in 100..<300 {
      try await writer.put(["a/1": "\(number)"])
      #expect(try await reader.text("a/1") == "\(number)")
    }
    try await reader.put(["a/2": "x"])
    #expect(try await writer.contents() == ["a/1": "299", "a/2": "x"])
    try await writer.remove("a/1", "a/2")
    #expect(try await reader.contents() == [:])
    #expect(try folder.names() == ["store.lock"])
  }

  @Test func readingFromMemoryCostsOneStat() async throws {
    let folder = try TemporaryFolder()
    let system = FaultySystem()
    let engine = try await folder.open(.normal, system)
    try await engine.put(["a/1": "x"])
    system.begin()
    #expect(try await engine.text("a/1") == "x")
    #expect(system.trace == ["look at a.json"])
  }

  @Test func aHeldLockIsWaitedForAndThenBusy() async throws {
    let folder = try TemporaryFolder()
    let system = FaultySystem()
    let engine = try await folder.open(.normal, system)
    try await engine.put(["a/1": "x"])
    try await hold(folder, exclusively: false) { () async throws in
      #expect(try await engine.text("b/1") == nil)
      let failure = await #expect(throws: CacheError.self) { try await engine.put(["a/1": "y"]) }
      #expect(failure?.code == .busy)
      #expect(failure?.message == "cannot lock \(folder.store) within 5.0 seconds: another process holds it")
    }
    #expect(system.elapsed == .seconds(5))
    try await hold(folder, exclusively: true) { () async throws in
      #expect(await code { try await engine.put(["a/1": "y"]) } == .busy)
      #expect(await code { _ = try await engine.text("c/1") } == .busy)
      #expect(system.elapsed == .milliseconds(5_200), "a call has just waited without success")
    }
    system.pause(for: .seconds(5))
    try await hold(folder, exclusively: true) { () async throws in
      #expect(try await engine.text("a/1") == "x")
      #expect(await code { _ = try await engine.text("c/1") } == .busy)
    }
    try await engine.put(["a/1": "y"])
    #expect(try await engine.text("a/1") == "y")
  }

  @Test(arguments: [(true, true), (true, false), (false, true)])
  func aHandleThatWaitsGetsItsTurn(otherWrites: Bool, writes: Bool) async throws {
    let folder = try TemporaryFolder()
    try await folder.open().put(["a/1": "x"])
    let other = RestlessHandle(folder, isWriter: otherWrites)
    let system = FaultySystem(
      .rule { call, _ in
        if call.hasPrefix("lock") { other.goOn() }
        return nil
      })
    let engine = try await folder.open(.normal, system)
    if writes { try await engine.put(["a/1": "y"]) } else { #expect(try await engine.text("a/1") == "x") }
  }

  @Test func aHandleWithoutAccessToTheFolderTakesNoTurn() async throws {
    let folder = try TemporaryFolder()
    try await folder.open().put(["a/1": "x"])
    let system = FaultySystem(.rule { call, path in call == "open" && path == folder.store ? EACCES : nil })
    let engine = try await folder.open(.normal, system)
    #expect(try await engine.text("a/1") == "x")
    try await engine.put(["a/1": "y"])
    #expect(try await engine.text("a/1") == "y")
    #expect(system.trace.contains("open store"))
  }

  @Test func aProcessThatIsSuspendedInItsTurnStopsNoOther() async throws {
    let folder = try TemporaryFolder()
    let system = FaultySystem()
    let engine = try await folder.open(.normal, system)
    try await engine.put(["a/1": "x"])
    let turn = try #require(try StoreFiles().open(folder.store, O_RDONLY | O_DIRECTORY))
    #expect(try StoreFiles().lock(turn, exclusively: true))
    try await engine.put(["a/1": "y"])
    #expect(try await folder.open().text("a/1") == "y")
    #expect(system.elapsed > .milliseconds(2_500) && system.elapsed < .milliseconds(2_600))
    StoreFiles().unlock(turn)
  }

  private func hold(_ folder: TemporaryFolder, exclusively: Bool, _ body: () async throws -> Void) async throws {
    let file = try #require(try StoreFiles().open(folder.file("store.lock"), O_RDONLY))
    #expect(try StoreFiles().lock(file, exclusively: exclusively))
    try await body()
    StoreFiles().unlock(file)
  }

  @Test func readersSeeABatchOverNamespacesCompletely() async throws {
    let folder = try TemporaryFolder()
    try await folder.open().put(["a/1": "0", "b/1": "0"])
    let options = PlistOptions(path: folder.store, durability: .relaxed, busyTimeout: .seconds(600))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<3 {
        group.addTask {
          let engine = try await PlistEngine.open(options, clock: FixedClock(now: .distantFuture))
          for number in 0..<20 {
            var batch = WriteBatch()
            let metadata = EntryMetadata.sample(UInt64(writer * 100 + number))
            batch.put(try CacheKey("a/1"), payload: [], metadata: metadata)
            batch.put(try CacheKey("b/1"), payload: [], metadata: metadata)
            try await engine.apply(batch)
          }
        }
      }
      group.addTask {
        let engine = try await PlistEngine.open(options, clock: FixedClock(now: .distantFuture))
        for _ in 0..<60 {
          #expect(Set(try await engine.scan(ScanRequest()).entries.map(\.metadata.checksum)).count == 1)
        }
      }
      try await group.waitForAll()
    }
  }
}
