import CacheBase
import EngineAPI
import Testing

@testable import CachectlTool
@testable import CacheConfiguration

/// Which library a name or a path leads to.
struct EngineLibrariesTests {
  private static let searchPath = ["/a", "/b", "/missing"]
  private static let libraries = Fixtures.libraries([
    "/a/libcachectl-one.so", "/b/libcachectl-two.so", "/a/libcachectl-both.so", "/b/libcachectl-both.so",
    "/b/libcachectl-lmdb.so", "/a/libcachectl-.so", "/a/libcachectl-Odd.so", "/a/libcachectl-one.so.1", "/a/one.so",
    "/a/libcachectl-plugin.so",
  ])

  private func library(_ reference: String, searchPath: [String] = searchPath) throws -> EngineLibrary {
    try Self.libraries.library(reference, builtIn: ["sqlite", "lmdb"], searchPath: searchPath)
  }

  @Test(arguments: [
    ("one", "/a/libcachectl-one.so"), ("two", "/b/libcachectl-two.so"),
    ("/a/libcachectl-both.so", "/a/libcachectl-both.so"), ("/b/libcachectl-both.so", "/b/libcachectl-both.so"),
  ])
  func isFound(reference: String, path: String) throws {
    let library = try library(reference)
    #expect(library.path == path)
    #expect(library.name == EngineName.name(of: path))
  }

  @Test func aFolderThatIsNamedTwiceIsOne() throws {
    #expect(try library("one", searchPath: ["/a", "/a", "/a/"]).path == "/a/libcachectl-one.so")
  }

  @Test(arguments: [
    ("three", "unknownBackend", ["'three'"]), ("both", "invalidPlugin", ["/a/libcachectl-both.so", "/b/libcachectl"]),
    ("/c/libcachectl-one.so", "invalidPlugin", ["there is no library /c/libcachectl-one.so"]),
    ("/a/one.so", "invalidPlugin", ["/a/one.so", "libcachectl-NAME.so"]),
    ("/a/libcachectl-Odd.so", "invalidPlugin", ["not called like"]),
    ("/a/libcachectl-plugin.so", "invalidPlugin", ["not called like"]),
    ("/b/libcachectl-lmdb.so", "invalidPlugin", ["like the built-in engine lmdb"]),
  ])
  func isNotFound(reference: String, code: String, words: [String]) throws {
    let error = #expect(throws: CacheError.self) { _ = try library(reference) }
    #expect(error?.code.rawValue == code)
    for word in words { #expect(error?.description.contains(word) == true, "\(error?.description ?? "")") }
  }

  @Test func whatTheFoldersHold() {
    let found = Self.libraries.all(in: Self.searchPath)
    #expect(found.map(\.name) == ["both", "one", "both", "lmdb", "two"])
    let loaded = LoadedEngine(
      plugin: Fixtures.NoPlugin(declaration: Fixtures.engine("one", [])), path: "/a/libcachectl-one.so")
    let others = FoundLibraries(
      Self.libraries, searchPath: Self.searchPath, catalogue: PluginCatalogue.builtIn.adding([loaded]))
    #expect(others.usable.map(\.path) == ["/a/libcachectl-both.so", "/b/libcachectl-both.so", "/b/libcachectl-two.so"])
    #expect(others.ambiguous == ["both"])
    #expect(others.unusable.map(\.name) == ["lmdb"])
  }

  @Test(arguments: [
    ("lmbd", "lmdb", true), ("sqlite3", "sqlite", true), ("sqllit", "sqlite", true), ("redis", "plist", false),
    ("list", "plist", true), ("folder", "memory", false), ("db", "lmdb", false), ("lmdb2", "lmdb", true),
  ])
  func aNearNameIsAMistake(name: String, other: String, isNear: Bool) {
    #expect(Spelling.isNear(name, other) == isNear)
  }
}
