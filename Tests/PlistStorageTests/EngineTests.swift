import ChildProcesses
import Foundation
import EngineAPI
import Testing

@testable import PlistStorage

@Suite struct EngineTests {
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

  @Test func aFolderThatIsRemovedIsCreatedAgain() async throws {
    let folder = try TemporaryFolder()
    let engine = try await folder.open()
    try await engine.put(["a/1": "x"])
    try FileManager.default.removeItem(atPath: folder.store)
    #expect(try await engine.text("a/1") == nil)
    try await engine.put(["a/2": "y"])
    #expect(try await folder.open().contents() == ["a/2": "y"])
  }
}
