import ChildProcesses
import Foundation
import StorageSPI
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
    let fileSystem = FaultyFileSystem(.rule { call, _ in call == "mkdir" ? errno : nil })
    #expect(await code { _ = try await folder.open(fileSystem: fileSystem) } == .cannotCreate)
  }

  @Test(
    arguments: [
      (ENOSPC, .noSpace), (EDQUOT, .noSpace), (EACCES, .permissionDenied), (EPERM, .permissionDenied),
      (EROFS, .permissionDenied), (EIO, .ioFailed), (EFBIG, .tooLarge), (EMFILE, .ioFailed),
    ] as [(Int32, CacheError.Code)])
  func errorsOfTheSystemAreNamed(errno: Int32, expected: CacheError.Code) async throws {
    let folder = try TemporaryFolder()
    let fileSystem = FaultyFileSystem(.rule { call, _ in call == "write" ? errno : nil })
    let engine = try await folder.open(fileSystem: fileSystem)
    let error = await #expect(throws: CacheError.self) { try await engine.put(["a/1": "x"]) }
    #expect(error?.code == expected)
    #expect(error?.message.contains(folder.store) == true)
    #expect(try await engine.text("a/1") == nil)
  }

  @Test(arguments: [EACCES, EPERM, EROFS])
  func aReadOnlyFolderCanBeRead(errno: Int32) async throws {
    let folder = try TemporaryFolder()
    try await folder.open().put(["a/1": "x", "b/1": "y"])
    try FileManager.default.removeItem(atPath: folder.file("store.lock"))
    let fileSystem = FaultyFileSystem(
      .rule { call, _ in ["create", "rename", "unlink", "mkdir"].contains(call) ? errno : nil })
    let engine = try await folder.open(fileSystem: fileSystem)
    #expect(try await engine.text("a/1") == "x")
    #expect(try await engine.contents() == ["a/1": "x", "b/1": "y"])
    #expect(try await engine.statistics().entries == 2)
    #expect(try await engine.checkIntegrity() == [])
    #expect(await code { try await engine.put(["a/1": "z"]) } == .permissionDenied)
    #expect(await code { try await engine.remove("a/1") } == .permissionDenied)
    #expect(try await engine.text("a/1") == "x")
  }

  @Test func compactingDropsWhatHasExpired() async throws {
    let folder = try TemporaryFolder()
    let engine = try await folder.open(at: 5_000)
    var batch = WriteBatch()
    for (key, time) in [("a/1", 4_999), ("a/2", 5_000), ("a/3", 5_001), ("b/1", 5_000)] as [(String, Int64)] {
      batch.put(try CacheKey(key), payload: [1, 2], metadata: .sample(retainUntil: time))
    }
    try await engine.apply(batch)
    #expect(try await engine.statistics().payloadBytes == 8)
    try await engine.compact()
    #expect(try await engine.statistics().namespaces == [.init(name: "a", entries: 1, payloadBytes: 2)])
    #expect(try folder.names() == ["a.json", "store.lock"])
    #expect(try await engine.statistics().storageBytes == folder.bytes("a.json").count)
  }

  @Test func scansGoOnAcrossNamespaces() async throws {
    let folder = try TemporaryFolder()
    let keys = ["a/1", "a/2", "ab/1", "b/1", "b/2"]
    try await folder.open().put(Dictionary(uniqueKeysWithValues: keys.map { ($0, $0) }))
    try folder.write("not of the store", to: "Notes.json")
    let engine = try await folder.open()
    for limit in 1...6 {
      var (found, after): ([String], CacheKey?) = ([], nil)
      while case let page = try await engine.scan(KeyRange(after: after), limit: limit), let last = page.last {
        found += page.map(\.key.text)
        after = last.key
      }
      #expect(found == keys, "limit \(limit)")
      (found, after) = ([], nil)
      while case let page = try await engine.scan(KeyRange(after: after, isDescending: true), limit: limit),
        let last = page.last
      {
        found += page.map(\.key.text)
        after = last.key
      }
      #expect(found == keys.reversed(), "limit \(limit)")
    }
    #expect(try await engine.scan(KeyRange(prefix: "a"), limit: 9).count == 3)
    #expect(try await engine.scan(KeyRange(prefix: "a/2"), limit: 9).map(\.key.text) == ["a/2"])
    #expect(try await engine.scan(KeyRange(prefix: "No/"), limit: 9) == [])
  }

  @Test func aClosedStoreAnswersNothing() async throws {
    let engine = try await TemporaryFolder().open()
    try await engine.put(["a/1": "x"])
    try await engine.close()
    try await engine.close()
    #expect(await code { _ = try await engine.text("a/1") } == .closed)
    #expect(await code { try await engine.apply(WriteBatch()) } == .closed)
    #expect(await code { _ = try await engine.scan(KeyRange(prefix: "No/"), limit: 1) } == .closed)
    #expect(await code { _ = try await engine.statistics() } == .closed)
    #expect(await code { _ = try await engine.checkIntegrity() } == .closed)
    #expect(await code { try await engine.compact() } == .closed)
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
