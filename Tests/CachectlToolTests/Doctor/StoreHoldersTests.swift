import Foundation
import Testing

@testable import CachectlTool
@testable import CacheConfiguration

struct StoreHoldersTests {
  private static let locks = """
    1: POSIX  ADVISORY  WRITE 3568 08:01:77 0 EOF
    1: -> POSIX  ADVISORY  WRITE 12 08:01:77 0 EOF
    2: OFDLCK ADVISORY  READ -1 08:01:77 0 0
    3: FLOCK  ADVISORY  WRITE 99 08:02:77 0 EOF
    4: FLOCK  ADVISORY  WRITE 98 8:1:78 0 EOF
    5: LEASE  broken
    6: FLOCK  ADVISORY  WRITE 97 fd:ff:79 0 EOF
    """

  @Test(
    arguments: [
      (FileIdentity(major: 8, minor: 1, number: 77), [12, 3568]), (FileIdentity(major: 8, minor: 2, number: 77), [99]),
      (FileIdentity(major: 8, minor: 1, number: 78), [98]), (FileIdentity(major: 253, minor: 255, number: 79), [97]),
      (FileIdentity(major: 1, minor: 1, number: 1), []),
    ] as [(FileIdentity, [Int])])
  func locksAreFoundByTheirFiles(identity: FileIdentity, processes: [Int]) {
    #expect(StoreHolders.lockHolders(in: Self.locks, of: [identity]).sorted() == processes)
  }

  @Test func processesAreFoundByLocksAndByOpenFiles() {
    var files = FakeFiles()
    files.files["/home/a.db"] = .file(number: 77)
    files.texts = ["/proc/locks": Self.locks, "/proc/12/comm": "worker\n", "/proc/3568/comm": "a b\n"]
    files.links = [
      "/proc/12/fd/3": "/home/a.db", "/proc/13/fd/0": "/home/a.db-other", "/proc/20/fd/9": "/home/a.db",
      "/proc/self/fd/1": "/home/a.db",
    ]
    let holders = StoreHolders(files: files).holders(of: ["/home/a.db", "/home/absent"])
    #expect(
      holders.map(\.description) == [
        "worker (process 12, holds a lock)", "unknown (process 20)", "a b (process 3568, holds a lock)",
      ])
    #expect(StoreHolders(files: files).holders(of: []).isEmpty)
  }

  @Test func thisProcessIsFoundWhereItHoldsALock() throws {
    let path = NSTemporaryDirectory() + "holders-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: path) }
    // Closed in the programs that other tests start meanwhile: they would hold the lock as well.
    let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    #expect(file >= 0)
    #expect(flock(file, LOCK_EX) == 0)
    let search = StoreHolders(files: SystemFileInspection())
    func mine() -> [StoreHolders.Holder] { search.holders(of: [path]).filter { $0.process == Int(getpid()) } }
    #expect(mine().count == 1)
    #expect(mine().first?.command.isEmpty == false && mine().first?.command != "unknown")
    flock(file, LOCK_UN)
    close(file)
    #expect(mine().isEmpty)
  }
}

struct SystemFileInspectionTests {
  private let files = SystemFileInspection()

  @Test func openFilesAreNamed() throws {
    let home = try TestHome()
    let path = home.folder + "/a"
    try Data("text".utf8).write(to: URL(fileURLWithPath: path))
    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
    try FileManager.default.createSymbolicLink(atPath: home.folder + "/link", withDestinationPath: path)
    let file = try #require(files.file(at: path))
    #expect(file.kind == .file && file.mode == 0o640 && file.size == 4 && file.owner == geteuid())
    #expect(files.file(at: home.folder)?.kind == .folder)
    #expect(files.file(at: "/dev/null")?.kind == .other)
    #expect(files.file(at: home.folder + "/none") == nil)
    #expect(files.names(in: home.folder) == ["a", "link"])
    #expect(files.names(in: home.folder + "/none").isEmpty)
    #expect(files.text(of: path) == "text" && files.text(of: home.folder + "/none") == nil)
    #expect(files.target(of: home.folder + "/link") == path && files.target(of: path) == nil)
    #expect(files.realPath(of: home.folder + "/link") == files.realPath(of: path))
    #expect(files.nearestFolder(of: home.folder + "/b/c") == home.folder)
    #expect(files.mayWrite(path) && !files.mayWrite(home.folder + "/none"))
    #expect((files.space(at: home.folder)?.free ?? 0) > 0)
    #expect(files.space(at: home.folder + "/none") == nil)
  }
}
