import Foundation
import PlistStorage
import EngineAPI
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

  @Test func aScanRunsInItsDirection() async throws {
    let store = try await Library("tiny.c").open()
    try await store.apply(try .put("cities/a", "cities/b", "cities/c", "movies/a"))
    func keys(_ prefix: String, after position: String? = nil, isDescending: Bool = false) async throws -> [String] {
      let request = ScanRequest(prefix: prefix, after: position, limit: 2, isDescending: isDescending)
      let page = try await store.scan(request)
      return page.entries.map(\.key.text) + (page.next.map { ["after \($0)"] } ?? [])
    }
    #expect(try await keys("cities/") == ["cities/a", "cities/b", "after cities/b"])
    #expect(try await keys("cities/", isDescending: true) == ["cities/c", "cities/b", "after cities/b"])
    #expect(try await keys("", after: "cities/b", isDescending: true) == ["cities/a"])
    #expect(try await keys("", after: "cities/b") == ["cities/c", "movies/a"])
  }

  @Test func aScanHasPayloadsIfTheyAreRequested() async throws {
    let store = try await Library("tiny.c").open()
    try await store.apply(try .put("cities/a", payload: "some"))
    var request = ScanRequest()
    let (key, bytes) = (try CacheKey("cities/a"), Array("some".utf8))
    #expect(try await store.scan(request).entries == [ScannedEntry(key: key, metadata: .sample, payloadBytes: 4)])
    request.includesPayloads = true
    #expect(try await store.scan(request).entries == [ScannedEntry(key: key, metadata: .sample, payload: bytes)])
  }

  @Test func anUpdateKeepsThePayload() async throws {
    let (store, key) = (try await Library("tiny.c").open(), try CacheKey("cities/a"))
    try await store.apply(try .put("cities/a"))
    var renewed = EntryMetadata.sample
    renewed.checksum = 5
    renewed.attributes = ["etag": "2"]
    var batch = WriteBatch()
    batch.update(key, metadata: renewed, from: EntryMetadata.sample.checksum)
    try await store.apply(batch)
    let read = try await store.read(key) { bytes, metadata in (bytes.count, metadata) }
    #expect(read?.0 == 10 && read?.1 == renewed)
    #expect(await cacheError { try await store.apply(batch) }?.code == .conflict)
  }

  @Test func aCountArrives() async throws {
    let store = try await Library("tiny.c").open()
    #expect(try await store.count() == StoreCount())
    try await store.apply(try .put("cities/a", "cities/b", "movies/a"))
    let expiry = EntryMetadata.sample.retainUntil
    #expect(
      try await store.count()
        == StoreCount(
          namespaces: [
            "cities": EntryCount(entries: 2, payloadBytes: 20, earliestExpiry: expiry),
            "movies": EntryCount(entries: 1, payloadBytes: 10, earliestExpiry: expiry),
          ], storageBytes: 30))
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

  @Test(arguments: ["TINY_READS_WAIT=0", "TINY_READS_WAIT=1"])
  func everyCallAfterClosingFails(_ macro: String) async throws {
    let store = try await Library("tiny.c", [macro]).open()
    try await store.apply(try .put("cities/a"))
    try await store.close()
    try await store.close()
    let key = try CacheKey("cities/a")
    #expect(await cacheError { _ = try await store.read(key) { $1 } }?.code == .closed)
    #expect(await cacheError { try await store.apply(WriteBatch()) }?.code == .closed)
    #expect(await cacheError { _ = try await store.scan(ScanRequest()) }?.code == .closed)
    #expect(await cacheError { _ = try await store.count() }?.code == .closed)
    #expect(await cacheError { _ = try await store.check() }?.code == .closed)
    #expect(await cacheError { try await store.compact() }?.code == .closed)
    #expect(await cacheError { _ = try store.changeCount() }?.code == .closed)
  }

  @Test func closingWaitsForAReadInProgress() async throws {
    let store = try await Library("tiny.c").open()
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
    let (closes, close) = AsyncStream<Void>.makeStream()
    let closing = Task {
      close.finish()
      try await store.close()
      events.withLock { $0.append("closed") }
    }
    for await _ in closes {}
    // Time for an engine that does not wait.
    for _ in 0..<1_000 { await Task.yield() }
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

  /// A library that breaks the rules damages nothing but what it reports itself.
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
