import ChildProcesses
import Foundation
import EngineAPI
import Testing

@testable import PlistStorage

@Suite struct EngineTests {
  @Test func thePluginOpensWithItsDefaults() async throws {
    let folder = try TemporaryFolder()
    let plugin = PlistPlugin()
    let configuration = try EngineConfiguration(
      for: plugin.declaration, values: ["path": .text(folder.path + "/deep/er/store/")],
      clock: FixedClock(now: .distantFuture))
    let engine = try await plugin.open(configuration)
    var batch = WriteBatch()
    batch.put(try CacheKey("a/1"), payload: [1], metadata: .sample())
    try await engine.apply(batch)
    #expect(FileManager.default.fileExists(atPath: folder.path + "/deep/er/store/a.json"))
  }

  @Test func filesAreForTheUserAlone() async throws {
    let folder = try TemporaryFolder()
    try await folder.open().put(["a/1": "x"])
    for (name, mode) in [("", 0o700), ("a.json", 0o600), ("store.lock", 0o600)] {
      let attributes = try FileManager.default.attributesOfItem(atPath: folder.file(name))
      #expect(attributes[.posixPermissions] as? Int == mode, "\(name)")
    }
  }

  @Test func aFileInThePlaceOfTheFolderIsRefused() async throws {
    let folder = try TemporaryFolder()
    try Data([1]).write(to: URL(fileURLWithPath: folder.store))
    let error = await #expect(throws: CacheError.self) { _ = try await folder.open() }
    #expect(error?.code == .cannotCreate)
    #expect(error?.message.contains(folder.store) == true)
    #expect(try Data(contentsOf: URL(fileURLWithPath: folder.store)) == Data([1]))
  }

  @Test(arguments: [EACCES, EROFS, ENOSPC])
  func aFolderThatCannotBeMadeIsRefused(errno: Int32) async throws {
    let folder = try TemporaryFolder()
    let system = FaultySystem(.rule { call, _ in call == "make directory" ? errno : nil })
    let expected: CacheError.Code = errno == ENOSPC ? .noSpace : .cannotCreate
    #expect(await code { _ = try await folder.open(.normal, system) } == expected)
  }

  @Test(
    arguments: [
      (ENOSPC, .noSpace), (EDQUOT, .noSpace), (EACCES, .permissionDenied), (EPERM, .permissionDenied),
      (EROFS, .permissionDenied), (EIO, .ioFailed), (EFBIG, .noSpace), (EMFILE, .ioFailed),
    ] as [(Int32, CacheError.Code)])
  func errorsOfTheSystemAreNamed(errno: Int32, expected: CacheError.Code) async throws {
    let folder = try TemporaryFolder()
    let system = FaultySystem(.rule { call, _ in call == "write" ? errno : nil })
    let engine = try await folder.open(.normal, system)
    let error = await #expect(throws: CacheError.self) { try await engine.put(["a/1": "x"]) }
    #expect(error?.code == expected)
    #expect(error?.message.contains(folder.store) == true)
    #expect(try await engine.text("a/1") == nil)
  }

  @Test(arguments: [EACCES, EPERM, EROFS])
  func aReadOnlyFolderCanBeRead(errno: Int32) async throws {
    let folder = try TemporaryFolder()
    try await folder.open().put(["a/1": "x", "b/1": "y"])
    let system = FaultySystem(
      .rule { call, path in
        let isDenied = call == "create" && !FileManager.default.fileExists(atPath: path)
        return isDenied || ["replace", "remove", "make directory"].contains(call) ? errno : nil
      })
    let engine = try await folder.open(.normal, system)
    #expect(try await engine.text("a/1") == "x")
    #expect(try await engine.contents() == ["a/1": "x", "b/1": "y"])
    #expect(try await engine.count().entries == 2)
    #expect(try await engine.check() == [])
    #expect(await code { try await engine.put(["a/1": "z"]) } == .permissionDenied)
    #expect(await code { try await engine.remove("a/1") } == .permissionDenied)
    #expect(try await engine.text("a/1") == "x")
    try FileManager.default.removeItem(atPath: folder.file("store.lock"))
    #expect(await code { _ = try await folder.open(.normal, system).text("a/1") } == .permissionDenied)
  }

  @Test func compactingDropsWhatHasExpired() async throws {
    let folder = try TemporaryFolder()
    let engine = try await folder.open(at: 5_000)
    var batch = WriteBatch()
    for (key, time) in [("a/1", 4_999), ("a/2", 5_000), ("a/3", 5_001), ("b/1", 5_000)] as [(String, Int64)] {
      batch.put(try CacheKey(key), payload: [1, 2], metadata: .sample(retainUntil: time))
    }
    try await engine.apply(batch)
    #expect(try await engine.count().payloadBytes == 8)
    #expect(try await engine.count()["a"].earliestExpiry == Timestamp(milliseconds: 4_999))
    try await engine.compact()
    let count = EntryCount(entries: 1, payloadBytes: 2, earliestExpiry: Timestamp(milliseconds: 5_001))
    #expect(try await engine.count().namespaces == ["a": count])
    #expect(try await engine.count().storageBytes == folder.bytes("a.json").count + folder.bytes("b.json").count)
    try await engine.remove("a/3")
    #expect(try folder.names() == ["b.json", "store.lock"])
  }

  @Test func compactingFindsWhatExpiresNext() async throws {
    let engine = try await TemporaryFolder().open(at: 2_000)
    for (key, time) in [("a/1", 3_000), ("a/2", 4_000), ("a/1", 5_000)] as [(String, Int64)] {
      var batch = WriteBatch()
      batch.put(try CacheKey(key), payload: [], metadata: .sample(retainUntil: time))
      try await engine.apply(batch)
    }
    #expect(try await engine.count().total().earliestExpiry == Timestamp(milliseconds: 3_000))
    try await engine.compact()
    #expect(try await engine.count().total().earliestExpiry == Timestamp(milliseconds: 4_000))
  }

  /// The keys on each page of a scan.
  private func pages(of engine: PlistEngine, _ request: ScanRequest) async throws -> [[String]] {
    var (request, pages): (ScanRequest, [[String]]) = (request, [])
    repeat {
      let page = try await engine.scan(request)
      pages.append(page.entries.map(\.key.text))
      request.position = page.next
    } while request.position != nil
    return pages
  }

  @Test func scansContinueAcrossNamespaces() async throws {
    let folder = try TemporaryFolder()
    let keys = ["a/1", "a/2", "ab/1", "b/1", "b/2"]
    try await folder.open().put(Dictionary(uniqueKeysWithValues: keys.map { ($0, $0) }))
    try folder.write("not of the store", to: "Notes.json")
    let engine = try await folder.open()
    for limit in 1...6 {
      for isDescending in [false, true] {
        let pages = try await pages(of: engine, ScanRequest(limit: limit, isDescending: isDescending))
        #expect(pages.flatMap { $0 } == (isDescending ? keys.reversed() : keys), "limit \(limit)")
        #expect(pages.dropLast().allSatisfy { $0.count == limit }, "limit \(limit)")
      }
    }
    #expect(try await engine.scan(ScanRequest(prefix: "a")).entries.count == 3)
    #expect(try await engine.scan(ScanRequest(prefix: "a/2")).entries.map(\.key.text) == ["a/2"])
    #expect(try await engine.scan(ScanRequest(prefix: "No/")) == ScanPage())
    #expect(try await engine.scan(ScanRequest(prefix: "../x/")) == ScanPage())
  }

  @Test func aPageEndsBeforeItsPayloadsAreTooLarge() async throws {
    let engine = try await TemporaryFolder().open(.relaxed)
    let half = ScanRequest.maximumPayloadBytes / 2
    var batch = WriteBatch()
    for (key, size) in [("a/1", half), ("b/1", half), ("b/2", 1), ("c/1", 3 * half), ("d/1", 1)] {
      batch.put(try CacheKey(key), payload: [UInt8](repeating: 0x78, count: size), metadata: .sample())
    }
    try await engine.apply(batch)
    let found = try await pages(of: engine, ScanRequest(includesPayloads: true))
    #expect(found == [["a/1", "b/1"], ["b/2"], ["c/1"], ["d/1"]])
    let page = try await engine.scan(ScanRequest(prefix: "b/", includesPayloads: true))
    #expect(page.entries.map { $0.payload?.count } == [half, 1])
  }

  /// A batch over several namespaces leaves a file also of one that has no entries then.
  @Test func nothingFollowsIfTheOtherFilesHaveNoEntries() async throws {
    let folder = try TemporaryFolder()
    let engine = try await folder.open()
    try await engine.put(["a/1": "x", "b/1": "x", "c/1": "x", "d/1": "x"])
    try await engine.remove("a/1", "b/1", "d/1")
    #expect(try folder.names() == ["a.json", "b.json", "c.json", "d.json", "store.lock"])
    for isDescending in [false, true] {
      let page = try await engine.scan(ScanRequest(limit: 1, isDescending: isDescending))
      #expect(page.entries.map(\.key.text) == ["c/1"])
      #expect(page.next == nil)
    }
    try await engine.put(["c/1": String(repeating: "x", count: ScanRequest.maximumPayloadBytes + 1)])
    #expect(try await engine.scan(ScanRequest(includesPayloads: true)).next == nil)
    // Whether a damaged file has entries cannot be known, and the page in front of it is good.
    try folder.write("{", to: "d.json")
    #expect(try await engine.scan(ScanRequest(limit: 1)).next == "c/1")
    #expect(await code { _ = try await engine.scan(ScanRequest(after: "c/1")) } == .damaged)
  }

  @Test func aPrefixThatIsNotANamespaceOpensNoFile() async throws {
    let folder = try TemporaryFolder()
    let system = FaultySystem()
    let engine = try await folder.open(.normal, system)
    try await engine.put(["a/1": "x"])
    for prefix in ["/", "../", "a/../b/", "A/"] {
      #expect(try await engine.scan(ScanRequest(prefix: prefix)) == ScanPage())
    }
    #expect(
      Set(system.trace.compactMap { $0.split(separator: " ").last }).isSubset(of: [
        "store", "store.lock", "store.commit", "a.json", "a.json.new",
        Substring(folder.path.split(separator: "/").last ?? ""),
      ]))
  }

  @Test func aClosedStoreAnswersNothing() async throws {
    let engine = try await TemporaryFolder().open()
    try await engine.put(["a/1": "x"])
    try await engine.close()
    try await engine.close()
    #expect(await code { _ = try await engine.text("a/1") } == .closed)
    #expect(await code { try await engine.apply(WriteBatch()) } == .closed)
    #expect(await code { _ = try await engine.scan(ScanRequest(prefix: "No/")) } == .closed)
    #expect(await code { _ = try await engine.count() } == .closed)
    #expect(await code { _ = try await engine.check() } == .closed)
    #expect(await code { try await engine.compact() } == .closed)
  }

  @Test func aFolderThatIsRemovedIsCreatedAgain() async throws {
    let folder = try TemporaryFolder()
    let engine = try await folder.open()
    try await engine.put(["a/1": "x"])
    try FileManager.default.removeItem(atPath: folder.store)
    #expect(try await engine.text("a/1") == nil)
    try await engine.put(["a/2": "y"])
    #expect(try await folder.open().contents() == ["a/2": "y"])
  }

  @Test(arguments: [
    ("jq", ["-r", ".entries[\"a/1\"].payload"]), ("plutil", ["-p"]),
  ])
  func ordinaryToolsReadTheStore(tool: String, arguments: [String]) async throws {
    let folder = try TemporaryFolder()
    try await folder.open().put(["a/1": "grüße, 世界"])
    let process = try FinishedProcess(running: [tool] + arguments + [folder.file("a.json")])
    #expect(process.status == 0)
    #expect(process.output.contains("grüße, 世界"), "\(process.output)")
  }
}
