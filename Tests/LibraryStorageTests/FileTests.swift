import Foundation
import EngineAPI
import Testing

@testable import LibraryStorage

@Suite("A library is loaded only from where no other user can change it")
struct FileTests {
  private func refusal(_ path: String) -> CacheError? {
    #expect(throws: CacheError.self) { _ = try LibraryPlugin(loading: path) }
  }

  @Test func aLibraryThatOthersMayWriteIsRefused() throws {
    let library = try Library("tiny.c")
    try library.folder.setMode(0o775, of: "libcachectl-tiny.so")
    let error = refusal(library.path)
    #expect(error?.code == .permissionDenied)
    #expect(error?.hint == "run: chmod go-w \(library.path)")
    try library.folder.setMode(0o755, of: "libcachectl-tiny.so")
    #expect(try library.plugin().path == library.path)
  }

  @Test(arguments: [0o770, 0o707, 0o1777])
  func aFolderThatOthersMayWriteIsRefusedEvenIfSticky(_ mode: Int) throws {
    let library = try Library("tiny.c")
    try library.folder.setMode(mode, of: "")
    let error = refusal(library.path)
    #expect(error?.code == .permissionDenied)
    #expect(error?.hint == "run: chmod go-w \(library.folder.path)")
  }

  @Test func aFolderFurtherUpMayBeStickyButNotOpen() throws {
    let (folder, library) = (try TemporaryFolder(), try Library("tiny.c"))
    let inner = folder.file("inner")
    try FileManager.default.createDirectory(
      atPath: inner, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try FileManager.default.moveItem(atPath: library.path, toPath: inner + "/libcachectl-tiny.so")
    try folder.setMode(0o777, of: "")
    #expect(refusal(inner + "/libcachectl-tiny.so")?.code == .permissionDenied)
    try folder.setMode(0o1777, of: "")
    #expect(try LibraryPlugin(loading: inner + "/libcachectl-tiny.so").declaration.name == "tiny")
  }

  @Test func aLinkIsFollowedAndItsFolderIsLookedAt() throws {
    let (folder, library) = (try TemporaryFolder(), try Library("tiny.c"))
    let versioned = library.folder.file("libcachectl-tiny.so.1")
    try FileManager.default.moveItem(atPath: library.path, toPath: versioned)
    let link = folder.file("libcachectl-tiny.so")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: versioned)
    #expect(try LibraryPlugin(loading: link).path == versioned)
    try folder.setMode(0o777, of: "")
    #expect(refusal(link)?.code == .permissionDenied)
    try folder.setMode(0o700, of: "")
    try library.folder.setMode(0o777, of: "")
    #expect(refusal(link)?.hint == "run: chmod go-w \(library.folder.path)")
  }

  @Test func aLibraryOfAnotherUserIsRefused() throws {
    let library = try Library("tiny.c")
    // Root may give it away; any other user needs a file of another user.
    if geteuid() == 0 { #expect(chown(library.path, 54_321, 0) == 0) }
    let error = #expect(throws: CacheError.self) { _ = try LibraryFile(library.path, for: 12_345) }
    #expect(error?.code == .permissionDenied)
    #expect(error?.message.contains("belongs to another user") == true)
  }

  @Test(arguments: ["tiny.so", "libcachectl-.so", "libcachectl-Tiny.so", "libcachectl-tiny.so.1", "libcachectl-a/b.so"])
  func anotherNameIsRefused(_ name: String) throws {
    let folder = try TemporaryFolder()
    let error = refusal(folder.file(name))
    #expect(error?.code == .invalidPlugin)
    #expect(error?.message.contains("is not called libcachectl-NAME.so") == true)
  }

  @Test func filesThatAreNotLibrariesAreRefused() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("libcachectl-tiny.so")
    #expect(refusal(path)?.message == "library \(path) cannot be found: no such file or directory")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    #expect(refusal(path)?.message == "'\(path)' is not a file")
    try FileManager.default.removeItem(atPath: path)
    for text in ["", "no library at all", String(repeating: "\u{7F}ELF", count: 100)] {
      try Data(text.utf8).write(to: URL(fileURLWithPath: path))
      try folder.setMode(0o600, of: "libcachectl-tiny.so")
      let error = refusal(path)
      #expect(error?.code == .invalidPlugin)
      #expect(error?.message.hasPrefix("library \(path) cannot be loaded: ") == true)
    }
  }

  @Test(arguments: [
    (["NO_ENTRY"], "has no function cachectl_plugin"),
    (["UNRESOLVED", "TABLE_DEFECT="], "cannot be loaded: undefined symbol: nobody_defines_this"),
  ])
  func aLibraryThatIsNotAPluginIsRefused(_ macros: [String], _ text: String) throws {
    let library = try Library("tables.c", macros)
    #expect(refusal(library.path)?.code == .invalidPlugin)
    #expect(refusal(library.path)?.message == "library \(library.path) \(text)")
  }
}
