import SQLiteStorage
import StorageSPI
import Synchronization
import Testing

@testable import LibraryStorage

@Suite("A library is called as its header says")
struct EngineTests {
  @Test func theDeclarationComesThroughWhole() throws {
    let declaration = try Library("tiny.c").plugin().declaration
    #expect(declaration.name == "tiny")
    #expect(declaration.version == "1.0")
    #expect(declaration.summary == "a table in memory, for tests")
    #expect(declaration.capabilities == [.atomicBatches])
    #expect(
      declaration.options == [
        EngineOption("note", .text, default: .text("none"), help: "any text"),
        EngineOption("ratio", .integer(-5...5), default: .integer(-1), help: "a number"),
        EngineOption("room", .size(0...1_048_576), default: .integer(4_096), help: "bytes"),
        EngineOption("patience", .duration(0...60_000), default: .integer(5_000), help: "milliseconds"),
        EngineOption("eager", .boolean, default: .boolean(true), help: "yes or no"),
        EngineOption("mode", .choice(["quick", "thorough"]), default: .text("quick"), help: "one of two"),
        EngineOption("password", .text, help: "a secret", isSecret: true),
        EngineOption("defect", .text, default: .text(""), help: "the rule to break"),
      ])
  }

  /// The library gives the values that it gets back as the path, and its clock as the version of its format.
  @Test func valuesAndClockArrive() async throws {
    let plugin = try Library("tiny.c").plugin()
    let configuration = try EngineConfiguration(
      for: plugin.declaration, values: ["note": .text("ä b"), "eager": .boolean(false), "ratio": .integer(5)],
      clock: FixedClock(now: Timestamp(milliseconds: 77)))
    let path = "note=ä b;ratio=5;room=4096;patience=5000;eager=0;mode=quick;defect=;"
    let expected = StoreInspection(path: path, files: ["/tiny/file"], format: nil, currentFormat: 77)
    #expect(try await plugin.inspect(configuration) == expected)
  }

  @Test(
    arguments: [
      ("files", true), ("nofile", false), ("present nofile", true),
      ("absent", false),
    ])
  func whetherThereIsAStoreArrives(note: String, exists: Bool) async throws {
    let plugin = try Library("tiny.c").plugin()
    let configuration = try EngineConfiguration(
      for: plugin.declaration, values: ["note": .text(note)], clock: FixedClock(now: Timestamp(milliseconds: 77)))
    #expect(try await plugin.inspect(configuration).exists == exists)
  }

  @Test(arguments: [("any", nil), ("rain", "it may rain")] as [(String, String?)])
  func aCautionArrives(note: String, caution: String?) async throws {
    let plugin = try Library("tiny.c").plugin()
    let configuration = try EngineConfiguration(
      for: plugin.declaration, values: ["note": .text(note)], clock: FixedClock(now: Timestamp(milliseconds: 77)))
    #expect(try await plugin.inspect(configuration).caution == caution)
  }

  @Test func aLibraryLearnsThatItsCallerIsCancelled() async throws {
    let plugin = try Library("tiny.c").plugin()
    let configuration = try EngineConfiguration(
      for: plugin.declaration, values: ["note": .text("endless")], clock: FixedClock(now: Timestamp(milliseconds: 77)))
    let task = Task { await cacheError { _ = try await plugin.inspect(configuration) } }
    task.cancel()
    #expect(await task.value?.code == .cancelled)
    let other = try EngineConfiguration(for: plugin.declaration, clock: configuration.clock)
    #expect(try await plugin.inspect(other).currentFormat == 77)
  }

  @Test func aTextWithAZeroByteIsRefused() async throws {
    let library = try Library("tiny.c")
    let error = await cacheError { _ = try await library.open(["note": .text("a\0b")]) }
    #expect(error?.code == .invalidOption)
  }

  @Test func aRemovalArrives() async throws {
    let plugin = try Library("tiny.c").plugin()
    let configuration = try EngineConfiguration(
      for: plugin.declaration, clock: FixedClock(now: Timestamp(milliseconds: 0)))
    #expect(try await plugin.removeStore(configuration, movingAside: nil) == [])
    #expect(try await plugin.removeStore(configuration, movingAside: ".äside") == ["/tiny/file.äside"])
  }

  @Test func aScanRunsInItsDirection() async throws {
    let store = try await Library("tiny.c").open()
    try await store.apply(try .put("cities/a", "cities/b", "cities/c", "movies/a"))
    func keys(_ range: KeyRange) async throws -> [String] { try await store.scan(range, limit: 2).map(\.key.text) }
    #expect(try await keys(KeyRange(prefix: "cities/")) == ["cities/a", "cities/b"])
    #expect(try await keys(KeyRange(prefix: "cities/", isDescending: true)) == ["cities/c", "cities/b"])
    let last = try CacheKey("cities/b")
    #expect(try await keys(KeyRange(after: last, isDescending: true)) == ["cities/a"])
  }

  @Test func anIssueIsReported() async throws {
    let issues = try await Library("defects.c").open().checkIntegrity()
    #expect(issues == [IntegrityIssue(key: try CacheKey("cities/a"), kind: .undecodable, message: "it is cut off")])
  }

  @Test(arguments: [0, 1, 4_095, 4_097, 100_000])
  func metadataAndPayloadComeBack(_ size: Int) async throws {
    let (store, key) = (try await Library("tiny.c").open(), try CacheKey("cities/a"))
    let payload = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
    var batch = WriteBatch()
    batch.put(key, payload: payload, metadata: .sample)
    try await store.apply(batch)
    let read = try await store.read(key) { bytes, metadata in (bytes.withUnsafeBufferPointer(Array.init), metadata) }
    #expect(read?.0 == payload)
    #expect(read?.1 == .sample)
    #expect(try await store.read(try CacheKey("cities/b")) { bytes, _ in bytes.count } == nil)
  }

  @Test func whatALibraryKnowsOfChangesArrives() async throws {
    let (library, key) = (try Library("defects.c"), try CacheKey("cities/key"))
    let store = try await library.open()
    #expect(store.changeFollower?.changeMark(of: key) == ChangeMark(number: 10, age: .milliseconds(5)))
    let old = try await library.open(["defect": .text("mark-old")])
    #expect(old.changeFollower?.changeMark(of: key) == ChangeMark(number: 10, age: .milliseconds(Int64.max)))
    for defect in ["mark-none", "mark-99"] {
      let follower = try #require(try await library.open(["defect": .text(defect)]).changeFollower)
      #expect(follower.changeMark(of: key) == nil)
    }
    #expect(try await library.open(["defect": .text("mark-never")]).changeFollower == nil)
    let follower = store.changeFollower
    try await store.close()
    #expect(follower?.changeMark(of: key) == nil && store.changeFollower == nil)
  }

  @Test(arguments: ["TINY_FLAGS=0", "TINY_FLAGS=CACHECTL_READS_WAIT"])
  func everyCallAfterClosingFails(_ macro: String) async throws {
    let store = try await Library("tiny.c", [macro]).open()
    try await store.apply(try .put("cities/a"))
    try await store.close()
    try await store.close()
    await store.releaseMemory()
    let key = try CacheKey("cities/a")
    #expect(await cacheError { _ = try await store.read(key) { $1 } }?.code == .closed)
    #expect(await cacheError { try await store.apply(WriteBatch()) }?.code == .closed)
    #expect(await cacheError { _ = try await store.scan(KeyRange(), limit: 1) }?.code == .closed)
    #expect(await cacheError { _ = try await store.statistics() }?.code == .closed)
    #expect(await cacheError { _ = try await store.checkIntegrity() }?.code == .closed)
    #expect(await cacheError { try await store.compact() }?.code == .closed)
  }

  @Test func closingWaitsForTheCallsUnderWay() async throws {
    let gate = LibraryGate()
    let events = Mutex<[String]>([])
    try gate.enter()
    let closing = Task {
      await gate.close()
      events.withLock { $0.append("closed") }
    }
    while (try? gate.enter()) != nil {
      gate.leave()
      await Task.yield()
    }
    events.withLock { $0.append("left") }
    gate.leave()
    await closing.value
    #expect(events.withLock { $0 } == ["left", "closed"])
  }

  @Test func closingUnderLoadLetsNothingThroughAfterwards() async throws {
    let store = try await Library("tiny.c").open()
    let key = try CacheKey("cities/a")
    try await store.apply(try .put("cities/a"))
    let codes = try await withThrowingTaskGroup(of: CacheError.Code?.self) { group in
      for _ in 0..<8 {
        group.addTask {
          var error: CacheError?
          while error == nil {
            error = await cacheError { _ = try await store.read(key) { $0.count &+ $1.attributes.count } }
            // A read does not suspend, and closing needs a thread.
            await Task.yield()
          }
          return error?.code
        }
      }
      group.addTask {
        try await store.close()
        return .closed
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(codes == Array(repeating: .closed, count: 9))
  }

  /// A library that breaks the rules damages nothing but what it reports itself.
  @Test func aDefectLeavesAnotherEnginesStoreIntact() async throws {
    let (folder, plugin) = (try TemporaryFolder(), SQLitePlugin())
    let sqlite = try await plugin.open(
      try EngineConfiguration(
        for: plugin.declaration, values: ["path": .text(folder.file("store.sqlite"))],
        clock: FixedClock(now: Timestamp(milliseconds: 0))))
    try await sqlite.apply(try .put("cities/a", "cities/b"))
    let before = try await sqlite.scan(KeyRange(), limit: 10)
    let library = try Library("defects.c")
    for defect in Defect.all where defect.function == .read || defect.function == .scan {
      let broken = try await library.open(["defect": .text(defect.name)])
      let error = await cacheError {
        _ = try await broken.read(try CacheKey("cities/a")) { bytes, _ in bytes.count }
        _ = try await broken.scan(KeyRange(prefix: "cities/"), limit: 10)
      }
      #expect(error != nil, "\(defect.name)")
    }
    #expect(try await sqlite.scan(KeyRange(), limit: 10) == before)
    #expect(try await sqlite.checkIntegrity() == [])
    try await sqlite.close()
  }
}
