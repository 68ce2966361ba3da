import EngineAPI
import Foundation
import CacheBase
import Testing

/// The calls on the files of a store.
@Suite final class StoreFilesTests {
  private let folder = NSTemporaryDirectory() + "store-files-" + UUID().uuidString
  private let files = StoreFiles()

  init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false) }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  private func code(_ body: () throws(CacheError) -> Void) -> CacheError.Code? {
    do throws(CacheError) { try body() } catch { return error.code }
    return nil
  }

  @Test func createdFilesAreForTheUserAlone() throws {
    try files.makeDirectory(folder + "/a/b/c/")
    try files.makeDirectory(folder + "/a/b/c")
    try files.create(folder + "/a/b/c/file", [1, 2])
    for (name, mode) in [("/a", 0o700), ("/a/b/c", 0o700), ("/a/b/c/file", 0o600)] {
      #expect(try FileManager.default.attributesOfItem(atPath: folder + name)[.posixPermissions] as? Int == mode)
    }
  }

  @Test func aFileIsCreatedCompletelyAndOnlyOnce() throws {
    try files.create(folder + "/file", [1, 2])
    try files.create(folder + "/file", [3])
    #expect(try files.read(folder + "/file")?.bytes == [1, 2])
    #expect(try files.names(in: folder) == ["file"])
    #expect(try files.read(folder + "/none") == nil)
  }

  @Test func aNameIsFreeWithAllItsEndings() throws {
    #expect(files.freeName(folder + "/x") == folder + "/x")
    try files.create(folder + "/x-wal", [])
    try FileManager.default.createSymbolicLink(atPath: folder + "/x-2", withDestinationPath: "nowhere")
    #expect(files.freeName(folder + "/x") == folder + "/x")
    #expect(files.freeName(folder + "/x", endings: ["", "-wal"]) == folder + "/x-3")
  }

  @Test func aLockExcludesOtherHandles() throws {
    let path = folder + "/lock"
    let flags = O_RDWR | O_CREAT
    try files.withLock(on: path, flags, within: .zero) { _ throws(CacheError) in
      #expect(code { () throws(CacheError) in try files.withLock(on: path, flags, within: .zero) { _ in } } == .busy)
    }
    try files.withLock(on: path, flags, exclusively: false, within: .zero) { _ throws(CacheError) in
      try files.withLock(on: path, flags, exclusively: false, within: .zero) { _ in }
    }
  }

  /// The holder of the lock puts another file in its place: whoever waited has the lock on that one.
  @Test func aLockIsOnTheFileThatHasTheName() throws {
    let path = folder + "/lock"
    try files.create(path, [1])
    let held = try #require(try files.open(path, O_RDONLY))
    #expect(try files.lock(held))
    var waiting = files
    waiting.pause = { [files, folder] _ in
      try? files.create(folder + "/new", [2])
      try? files.rename(folder + "/new", to: path)
      files.unlock(held)
    }
    let found = try waiting.withLock(on: path, within: .seconds(60)) { file throws(CacheError) in
      try files.status(of: file).identity == files.status(of: held).identity
    }
    #expect(!found)
  }

  @Test(
    arguments: [
      (EACCES, .permissionDenied), (EROFS, .permissionDenied), (ENOSPC, .noSpace), (EDQUOT, .noSpace),
      (EFBIG, .noSpace),
      (ELOOP, .cannotCreate), (EIO, .ioFailed),
    ] as [(Int32, CacheError.Code)])
  func aFailureOfTheSystemIsNamed(number: Int32, expected: CacheError.Code) {
    #expect(CacheError.system(number, "read", "/x").code == expected)
    let failed = CacheError.system(number, "create", "/x").preventing(storeAt: "/store")
    #expect(failed.code == (expected == .noSpace ? .noSpace : .cannotCreate))
    #expect(failed.message.hasSuffix("cannot create /x: \(String(cString: strerror(number)))"))
  }

  @Test func aLargeFileIsReadAndWrittenInParts() throws {
    var small = files
    small.largestTransfer = 3
    try small.write(Array("0123456789".utf8), to: folder + "/file", O_WRONLY | O_CREAT)
    #expect(try small.read(folder + "/file", atMost: 7)?.bytes == Array("0123456".utf8))
    small.failure = { action, _ in action == "write" ? ENOSPC : nil }
    #expect(code { () throws(CacheError) in try small.write([1], to: folder + "/file", O_WRONLY) } == .noSpace)
  }
}
