import EngineAPI
import Foundation
import Testing

@testable import PlistStorage

/// Files that belong to someone else are neither read, renamed nor removed.
@Suite struct OwnershipTests {
  private let plugin = PlistPlugin()

  private func configuration(_ folder: TemporaryFolder) throws -> EngineConfiguration {
    try EngineConfiguration(
      for: plugin.declaration, values: ["path": .text(folder.store)], clock: FixedClock(now: .distantFuture))
  }

  /// Folders of others, and the names and contents of their files.
  static let foreign: [[String: String]] = [
    ["package.json": "{\"name\": \"app\"}"], ["notes.txt": "mine"], ["store.lock": "mine"], ["store.commit": "mine"],
    ["cities.json": ""], ["cities.json": "{\"format\": 1}"], ["cities.json.new": "{", ".hidden": ""],
    ["store.uses": "mine"], ["cities.json": "{\"format\": \"1\", \"namespace\": \"cities\"}"],
  ]

  @Test(arguments: foreign)
  func theFolderOfSomeoneElseIsRefusedAndLeftAlone(files: [String: String]) async throws {
    let folder = try TemporaryFolder()
    try FileManager.default.createDirectory(atPath: folder.store, withIntermediateDirectories: false)
    for (name, text) in files { try folder.write(text, to: name) }
    let configuration = try configuration(folder)
    #expect(await code { _ = try await plugin.open(configuration) } == .cannotCreate)
    #expect(await code { _ = try await plugin.inspect(configuration) } == .cannotCreate)
    #expect(await code { _ = try await plugin.removeStore(configuration, movingAside: nil) } == .cannotCreate)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.store).sorted() == files.keys.sorted())
    for (name, text) in files { #expect(try folder.text(name) == text) }
  }

  @Test func aFileOfSomeoneElseInAStoreIsLeftAlone() async throws {
    let folder = try TemporaryFolder()
    try await folder.open().put(["a/1": "x"])
    let foreign = ["package.json": "{\"name\": \"app\"}", "tsconfig.json": "", "lock.json.new": "mine"]
    for (name, text) in foreign { try folder.write(text, to: name) }
    let configuration = try configuration(folder)
    let engine = try await folder.open()
    #expect(try await engine.contents() == ["a/1": "x"])
    #expect(try await engine.text("package/1") == nil)
    #expect(try await engine.check() == [])
    #expect(try await engine.count().storageBytes == folder.bytes("a.json").count)
    for key in ["package/1", "tsconfig/1", "lock/1"] {
      #expect(await code { try await engine.put([key: "y"]) } == .cannotCreate, "\(key)")
    }
    try await engine.put(["b/1": "y"])
    try await engine.compact()
    try await engine.close()
    _ = try await plugin.removeStore(configuration, movingAside: nil)
    #expect(try folder.names() == (foreign.keys + ["store.lock"]).sorted())
    for (name, text) in foreign { #expect(try folder.text(name) == text) }
  }

  /// A file that the engine has written is damaged, whatever it holds now.
  @Test(arguments: ["", "{", "no trace"])
  func aFileOfTheEngineStaysItsOwn(content: String) async throws {
    let folder = try TemporaryFolder()
    try await folder.open().put(["a/1": "x"])
    try FileManager.default.removeItem(atPath: folder.file("store.uses"))
    try folder.write(content, to: "a.json")
    #expect(await code { _ = try await folder.open().text("a/1") } == .damaged)
  }

  /// A process that died before it had written its list leaves an empty lock file.
  @Test func aStoreWithoutAListIsKnownByItsFiles() async throws {
    let folder = try TemporaryFolder()
    try await folder.open().put(["a/1": "x", "b/1": "y"])
    try FileManager.default.removeItem(atPath: folder.file("store.uses"))
    try folder.write("", to: "store.lock")
    #expect(try await folder.open().contents() == ["a/1": "x", "b/1": "y"])
    try await folder.open().put(["a/2": "x"])
    #expect(try folder.text("store.lock") == "\ncachectl plist namespace a\n")
    try await folder.open().remove("b/1")
    try await folder.open().remove("a/1", "a/2")
    try folder.write("", to: "store.lock")
    #expect(try folder.names() == ["store.lock"])
    #expect(try await folder.open().contents().isEmpty, "only the lock file is left")
  }

  /// The list of a process that died while it wrote.
  @Test(arguments: ["", "\ncache", "\ncachectl plist namespace a\n\ncachectl plist namespace b"])
  func aListThatIsCutOffIsContinued(list: String) async throws {
    let folder = try TemporaryFolder()
    let store = PlistFolder(PlistOptions(path: folder.store), StoreFiles())
    try store.makeStore()
    try folder.write(list, to: "store.lock")
    try store.list(["b", "c"])
    try store.list(["c", "d"])
    #expect(try store.listedNamespaces() == Set(["b", "c", "d"] + (list.contains("a\n") ? ["a"] : [])))
  }
}
