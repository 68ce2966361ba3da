import StorageSPI
import Testing

@testable import CacheComposition
@testable import ProgramConfiguration

/// Where the engines are that were installed with the program.
struct EngineInstallationTests {
  @Test(arguments: [
    ("/usr/bin/cachectl", "/usr/lib/cachectl", "apt install cachectl-redis"),
    ("/opt/tools/bin/cachectl", "/opt/tools/lib/cachectl", "./install --prefix /opt/tools --with redis"),
    ("/home/ada/.local/bin/cachectl", "/home/ada/.local/lib/cachectl", "./install --with redis"),
    ("/home/ada/src/.build/cachectl", "/home/ada/.local/lib/cachectl", "./install --with redis"),
    ("/cachectl", "/home/ada/.local/lib/cachectl", "./install --with redis"),
    (nil, "/home/ada/.local/lib/cachectl", "./install --with redis"),
  ])
  func followsFromThePlaceOfTheProgram(program: String?, folder: String, command: String) {
    let installation = EngineInstallation(program: program, userHome: "/home/ada")
    #expect(installation.folder == folder)
    #expect(installation.command(for: "redis") == command && installation.command(for: "rediscluster") == command)
    #expect(installation.command(for: "folder") == nil)
  }

  @Test func itsFolderIsSearchedLast() throws {
    var files = FakeFiles()
    for path in ["/a/libcachectl-one.so", "/p/lib/cachectl/libcachectl-two.so", "/p/lib/cachectl/libcachectl-one.so"] {
      files.files[path] = .file()
    }
    let libraries = EngineLibraries(
      files: files, installation: { EngineInstallation(program: "/p/bin/cachectl", userHome: "/") }
    ) { library throws(CacheError) in throw CacheError(.invalidPlugin, library.path) }
    #expect(libraries.folders(["/a"]) == ["/a", "/p/lib/cachectl"])
    #expect(libraries.folders(["/p/lib/cachectl"]) == ["/p/lib/cachectl"])
    #expect(libraries.all(in: ["/a"]).map(\.name) == ["one", "one", "two"])
    #expect(
      try libraries.library("two", builtIn: [], searchPath: ["/a"]).path == "/p/lib/cachectl/libcachectl-two.so")
    #expect(throws: CacheError.self) { try libraries.library("one", builtIn: [], searchPath: ["/a"]) }
  }
}
