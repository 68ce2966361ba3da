import Foundation
import PlistStorage
import Synchronization
import Testing

@testable import EngineAPI
@testable import LibraryStorage

@Suite("A library is called as its header says")
struct EngineTests {
  @Test func theDeclarationIsComplete() throws {
    let declaration = try Library("tiny.c").plugin().declaration
    #expect(declaration.name == "tiny")
    #expect(declaration.version == "1.0")
    #expect(declaration.summary == "a table in memory, for tests")
    #expect(declaration.capabilities == [.atomicBatches, .ordered, .bounded, .countsChanges])
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
    let path = "ä b;5;4096;5000;false;quick;none;;"
    let expected = StoreInspection(path: path, files: ["/tiny/file"], format: nil, currentFormat: 77)
    #expect(try await plugin.inspect(configuration) == expected)
  }

  @Test(arguments: [("files", true), ("nofile", true), ("absent", false)])
  func whetherThereIsAStoreArrives(note: String, exists: Bool) async throws {
    let plugin = try Library("tiny.c").plugin()
    let configuration = try EngineConfiguration(
      for: plugin.declaration, values: ["note": .text(note)], clock: FixedClock(now: Timestamp(milliseconds: 77)))
    #expect(try await plugin.inspect(configuration).exists == exists)
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

  @Test func changesAreCounted() async throws {
    let store = try await Library("tiny.c").open()
    #expect(try store.changeCount() == 0)
    try await store.apply(try .put("cities/a"))
    #expect(try store.changeCount() == 1)
    for defect in ["count-99", "count-none"] {
      #expect(try await Library("defects.c").open(["defect": .text(defect)]).changeCount() == nil)
    }
  }

  /// Without a task; the bytes of the key need not be a text of Swift.
  @Test func aReadIsMadeAtOnceUnlessReadsWait() async throws {
    let key = Array("cities/a".utf8)
    let none = Array("cities/b".utf8)
    let store = try await Library("tiny.c").open()
    try await store.apply(try .put("cities/a"))
    var found: EntryMetadata?
    #expect(try store.readNow(key.span) { bytes, metadata in found = bytes.count == 10 ? metadata : nil } == true)
    #expect(found == .sample)
    #expect(try store.readNow(none.span) { _, _ in } == false)
    let waiting = try await Library("tiny.c", ["TINY_READS_WAIT=1"]).open()
    try await waiting.apply(try .put("cities/a"))
    #expect(try waiting.readNow(key.span) { _, _ in } == nil)
  }

  @Test func anIssueIsReported() async throws {
    let issues = try await Library("defects.c").open().check()
    #expect(issues == [IntegrityIssue(kind: .structure, message: "it is cut off")])
  }

  @Test func closingWaitsForAReadInProgress() async throws {
    let store = try #require(try await Library("tiny.c").open() as? LibraryEngine)
    try await store.apply(try .put("cities/a"))
    let events = Mutex<[String]>([])
    let mayEnd = Atomic<Bool>(false)
    let (started, start) = AsyncStream<Void>.makeStream()
    Thread.detachNewThread {
      _ = try? store.readNow(Array("cities/a".utf8).span) { _, _ in
        start.finish()
        while !mayEnd.load(ordering: .acquiring) { sched_yield() }
        events.withLock { $0.append("read") }
      }
    }
    for await _ in started {}
    let closing = Task {
      try await store.close()
      events.withLock { $0.append("closed") }
    }
    // The closing waits for the read, or has not waited for it.
    while !store.gate.isShut.load(ordering: .sequentiallyConsistent), events.withLock({ $0.isEmpty }) {
      await Task.yield()
    }
    mayEnd.store(true, ordering: .releasing)
    try await closing.value
    #expect(events.withLock { $0 } == ["read", "closed"])
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

  /// A library that breaks the rules damages only its own results.
  @Test func aDefectLeavesAnotherEnginesStoreIntact() async throws {
    let (folder, plugin) = (try TemporaryFolder(), PlistPlugin())
    let plist = try await plugin.open(
      try EngineConfiguration(
        for: plugin.declaration, values: ["path": .text(folder.file("store"))],
        clock: FixedClock(now: Timestamp(milliseconds: 0))))
    try await plist.apply(try .put("cities/a", "cities/b"))
    let before = try await plist.scan(ScanRequest())
    let library = try Library("defects.c")
    for defect in Defect.all where defect.function == .read || defect.function == .scan {
      let broken = try await library.open(["defect": .text(defect.name)])
      let error = await cacheError {
        _ = try await broken.read(try CacheKey("cities/a")) { bytes, _ in bytes.count }
        _ = try await broken.scan(ScanRequest(prefix: "cities/", after: "cities/0", limit: 10))
      }
      #expect(error != nil, "\(defect.name)")
    }
    #expect(try await plist.scan(ScanRequest()) == before)
    #expect(try await plist.check() == [])
    try await plist.close()
  }
}
