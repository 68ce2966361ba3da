import EngineAPI
import Foundation
import Testing

/// The mark of a store outside of its format, and the content at the path of a store.
@Suite final class StoreMarkTests {
  private let folder = NSTemporaryDirectory() + "store-mark-" + UUID().uuidString

  init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false) }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  private func write(_ text: String, to name: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/" + name))
  }

  private func code(_ body: () throws(CacheError) -> Void) -> CacheError.Code? {
    do throws(CacheError) { try body() } catch { return error.code }
    return nil
  }

  @Test func aMarkIsForTheUserAlone() throws {
    for mark in [StoreMark(ofFile: folder + "/x"), StoreMark(inFolder: folder)] {
      #expect(!mark.isPresent)
      try mark.create()
      #expect(mark.isPresent)
      let before = try Data(contentsOf: URL(fileURLWithPath: mark.path))
      try mark.create()
      #expect(try Data(contentsOf: URL(fileURLWithPath: mark.path)) == before)
      let mode = try FileManager.default.attributesOfItem(atPath: mark.path)[.posixPermissions] as? Int
      #expect(mode == 0o600 && before.count == 72)
      mark.remove()
      #expect(!FileManager.default.fileExists(atPath: mark.path))
    }
  }

  /// A process that died in between leaves an empty file.
  @Test func anEmptyFileBecomesTheMark() throws {
    try write("", to: "store.uses")
    let mark = StoreMark(inFolder: folder)
    #expect(!mark.isPresent)
    #expect(try StoreMark.isStore(inFolder: folder) { _ in .others } == false)
    try mark.create()
    #expect(mark.isPresent)
  }

  @Test(arguments: ["file", "link", "folder"])
  func filesOfSomeoneElseAreLeftAlone(kind: String) throws {
    let mark = StoreMark(inFolder: folder)
    switch kind {
    case "file": try write("mine", to: "store.uses")
    case "link":
      try FileManager.default.createSymbolicLink(atPath: mark.path, withDestinationPath: folder + "/none")
    default: try FileManager.default.createDirectory(atPath: mark.path, withIntermediateDirectories: false)
    }
    #expect(code { () throws(CacheError) in try mark.create() } == .cannotCreate)
    mark.remove()
    #expect(!mark.isPresent && !FileManager.default.fileExists(atPath: folder + "/none"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["store.uses"])
  }

  @Test func aPlaceIsTheTargetOfItsLinks() throws {
    try write("123", to: "file")
    try FileManager.default.createSymbolicLink(atPath: folder + "/link", withDestinationPath: folder + "/file")
    #expect(try StorePlace(folder) == .folder)
    #expect(try StorePlace(folder + "/file") == .file(size: 3))
    #expect(try StorePlace(folder + "/link") == .file(size: 3))
    #expect(try StorePlace("/dev/null") == .other)
    for path in ["/none", "/none/below", "/file/below"] { #expect(try StorePlace(folder + path) == .nothing) }
  }

  @Test(arguments: ["link", "link/", "link/cache.sqlite", "link/a/b/cache.sqlite"])
  func aLinkThatLeadsNowhereIsNamed(path: String) throws {
    try FileManager.default.createSymbolicLink(atPath: folder + "/link", withDestinationPath: "/mnt/none/disk")
    let error = #expect(throws: CacheError.self) { _ = try StorePlace(folder + "/" + path) }
    #expect(error?.code == .cannotCreate)
    #expect(error?.message == "\(folder)/link is a link to /mnt/none/disk, which does not exist")
  }

  @Test func aLinkToItselfIsRefused() throws {
    try FileManager.default.createSymbolicLink(atPath: folder + "/link", withDestinationPath: "link")
    #expect(code { () throws(CacheError) in _ = try StorePlace(folder + "/link") } == .cannotCreate)
  }

  @Test(arguments: [StoreMark.FolderContent.nothing, .store, .others])
  func aFolderIsAStoreByItsMarkOrItsContent(content: StoreMark.FolderContent) throws {
    var calls = 0
    let isStore = { [folder] () throws(CacheError) in
      try StoreMark.isStore(inFolder: folder) { _ throws(CacheError) in
        calls += 1
        return content
      }
    }
    #expect(try isStore() == false && calls == 0, "an empty folder")
    try write("x", to: "x")
    let found = code { () throws(CacheError) in #expect(try isStore() == (content == .store)) }
    #expect(found == (content == .others ? .cannotCreate : nil) && calls == 1)
    try StoreMark(inFolder: folder).create()
    #expect(try isStore() && calls == 1)
  }

  @Test(arguments: [StoreMark.FolderContent.nothing, .others])
  func aStoreThatAnotherProcessCreatesMeanwhileIsAStore(content: StoreMark.FolderContent) throws {
    try write("x", to: "x")
    let mark = StoreMark(inFolder: folder)
    let isStore = try StoreMark.isStore(inFolder: folder) { _ throws(CacheError) in
      try mark.create()
      return content
    }
    #expect(isStore)
  }
}
