import CachePresentation
import EngineAPI
import FetchVocabulary
import Foundation
import Testing
@testable import CacheConfiguration
@testable import CachectlTool

struct FileChecksTests {
  private static func files(_ home: InspectedFile?, parent: InspectedFile = .folder()) -> FakeFiles {
    var files = FakeFiles()
    files.files["/u"] = parent
    files.files["/u/home"] = home
    return files
  }

  @Test(
    arguments: [
      (.folder(), ["ok"]), (.folder(mode: 0o755), ["warning"]), (.folder(mode: 0o750), ["warning"]),
      (.folder(mode: 0o770), ["problem permissionDenied"]), (.folder(mode: 0o777), ["problem permissionDenied"]),
      (.folder(owner: 7), ["problem permissionDenied"]), (.file(), ["problem cannotCreate"]), (nil, ["ok"]),
      (.folder(mode: 0o777, owner: 7), ["problem permissionDenied", "problem permissionDenied"]),
    ] as [(InspectedFile?, [String])])
  func theHomeIsForItsOwnerAlone(home: InspectedFile?, verdicts: [String]) {
    let findings = FileChecks(files: Self.files(home)).home("/u/home")
    #expect(findings.map(\.verdict) == verdicts, "\(findings.map(\.message))")
    #expect(findings.allSatisfy { $0.message.contains("/u/home") && $0.name == "home" })
    #expect(findings.allSatisfy { $0.result == .ok || !$0.hint.isEmpty }, "each finding has its remedy")
  }

  @Test(
    arguments: [
      (0o777, ["problem permissionDenied"]), (0o1777, ["ok"]), (0o755, ["ok"]), (0o775, ["ok"]),
    ] as [(UInt32, [String])])
  func aParentFolderThatAllCanWriteIsAProblem(mode: UInt32, verdicts: [String]) {
    for home in [InspectedFile.folder(), nil] {
      let findings = FileChecks(files: Self.files(home, parent: .folder(mode: mode))).home("/u/home")
      #expect(findings.map(\.verdict).filter { $0 != "ok" } == verdicts.filter { $0 != "ok" })
    }
  }

  @Test func aHomeThatMayOnlyBeReadIsAWarning() {
    var files = Self.files(.folder(mode: 0o500))
    files.readOnly = ["/u/home"]
    #expect(FileChecks(files: files).home("/u/home").map(\.verdict) == ["warning"])
  }

  @Test func aHomeThatCannotBeMadeIsAProblem() {
    var files = Self.files(nil)
    files.readOnly = ["/u"]
    #expect(FileChecks(files: files).home("/u/home/deep").map(\.verdict) == ["problem cannotCreate"])
    files.readOnly = []
    files.files["/u"] = .file()
    #expect(FileChecks(files: files).home("/u/home/deep").map(\.verdict) == ["problem cannotCreate"])
  }

  @Test func theSuperuserIsWarnedOfFilesOfOthers() {
    var files = Self.files(.folder())
    files.user = 0
    let findings = FileChecks(files: files).home("/u/home")
    #expect(findings.map(\.verdict) == ["warning"])
    #expect(findings[0].message.contains("1000"))
  }

  @Test func pluginsAreChangedByTheirOwnerAlone() {
    var files = FakeFiles()
    #expect(FileChecks(files: files).plugins([]).map(\.verdict) == ["ok"])
    #expect(FileChecks(files: files).plugins(["/p"]).map(\.verdict) == ["ok"])
    files.files["/p"] = .folder(mode: 0o755, owner: 0)
    files.files["/p/redis.so"] = .file(mode: 0o755, owner: 0)
    #expect(FileChecks(files: files).plugins(["/q", "/p"]).map(\.verdict) == ["ok"])
    files.files["/p/redis.so"] = .file(mode: 0o775, owner: 7)
    let findings = FileChecks(files: files).plugins(["/q", "/p"])
    #expect(findings.map(\.verdict) == ["problem permissionDenied", "problem permissionDenied"])
    #expect(findings.allSatisfy { $0.message.contains("/p/redis.so") })
  }

  @Test(
    arguments: [
      (0o775, ["problem permissionDenied"]), (0o777, ["problem permissionDenied"]), (0o1777, ["ok"]), (0o755, ["ok"]),
    ] as [(UInt32, [String])])
  func onlyTheirOwnerCanChangeThePathToPlugins(mode: UInt32, verdicts: [String]) {
    var files = FakeFiles()
    files.files["/x"] = .folder(mode: mode, owner: 0)
    files.files["/x/p"] = .folder(mode: 0o755, owner: 0)
    #expect(FileChecks(files: files).plugins(["/x/p"]).map(\.verdict) == verdicts)
  }

  @Test(
    arguments: [
      (FileSystemSpace(free: 1 << 40, isReadOnly: false), "ok"),
      (FileSystemSpace(free: 1_000 << 20, isReadOnly: false), "warning"),
      (FileSystemSpace(free: 64 << 20, isReadOnly: false), "warning"),
      (FileSystemSpace(free: (64 << 20) - 1, isReadOnly: false), "problem noSpace"),
      (FileSystemSpace(free: 1 << 40, isReadOnly: true), "warning"), (nil, "warning"),
    ] as [(FileSystemSpace?, String)])
  func thereIsRoomForEverythingThatCanBeStored(space: FileSystemSpace?, verdict: String) {
    var files = Self.files(.folder())
    files.free = space
    let finding = FileChecks(files: files).space(home: "/u/home", maximumBytes: 1 << 30, usedBytes: 10)
    #expect(finding.verdict == verdict, "\(finding.message)")
  }

  @Test func storedEntriesNeedNoMoreRoom() {
    var files = Self.files(.folder())
    files.free = FileSystemSpace(free: 100 << 20, isReadOnly: false)
    let finding = FileChecks(files: files).space(home: "/u/home", maximumBytes: 1 << 30, usedBytes: 950 << 20)
    #expect(finding.verdict == "ok")
  }

  @Test func processesAreFoundByTheirOpenFiles() {
    var files = FakeFiles()
    files.files["/home/a.db"] = .file()
    files.texts = ["/proc/20/comm": "a b\n"]
    files.links = [
      "/proc/12/fd/3": "/home/a.db", "/proc/13/fd/0": "/home/a.db-other", "/proc/20/fd/9": "/home/a.db",
      "/proc/self/fd/1": "/home/a.db",
    ]
    let findings = FileChecks(files: files).store(["/home/a.db", "/home/absent"], "a")
    #expect(findings.map(\.message) == ["in use by unknown (process 12), a b (process 20)"])
    #expect(findings.map(\.verdict) == ["ok"] && FileChecks(files: files).store([], "a").isEmpty)
  }

  @Test func thisProcessIsFoundWhileItHasTheFileOpen() throws {
    let path = NSTemporaryDirectory() + "holders-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: path) }
    // Closed in the programs that other tests start meanwhile.
    let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    #expect(file >= 0)
    func isFound() -> Bool {
      FileChecks(files: SystemFileInspection()).store([path], "a").contains {
        $0.message.contains("(process \(getpid()))")
      }
    }
    #expect(isFound())
    close(file)
    #expect(!isFound())
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

/// A file system of a few files that a test writes down, all of user 1000 unless said otherwise.
struct FakeFiles: FileInspection {
  var user: UInt32 = 1000
  var files: [String: InspectedFile] = ["/": .folder(owner: 0)]
  var readOnly: Set<String> = []
  var texts: [String: String] = [:]
  var links: [String: String] = [:]
  var realPaths: [String: String] = [:]
  var free: FileSystemSpace? = FileSystemSpace(free: 1 << 40, isReadOnly: false)

  func file(at path: String) -> InspectedFile? { files[path] }
  func mayWrite(_ path: String) -> Bool { files[path] != nil && !readOnly.contains(path) }
  func space(at path: String) -> FileSystemSpace? { free }
  func text(of path: String) -> String? { texts[path] }
  func target(of path: String) -> String? { links[path] }
  func realPath(of path: String) -> String? { realPaths[path] ?? (files[path] == nil ? nil : path) }

  func names(in path: String) -> [String] {
    let start = path == "/" ? "/" : path + "/"
    let below = (Array(files.keys) + Array(texts.keys) + Array(links.keys)).filter { $0.hasPrefix(start) }
    return Set(below.map { String($0.dropFirst(start.count).prefix { $0 != "/" }) }).filter { !$0.isEmpty }.sorted()
  }
}

extension InspectedFile {
  static func folder(mode: UInt32 = 0o700, owner: UInt32 = 1000) -> InspectedFile {
    make(.folder, mode, owner, changedAt: 0)
  }

  static func file(mode: UInt32 = 0o600, owner: UInt32 = 1000, changedAt: Int64 = 0) -> InspectedFile {
    make(.file, mode, owner, changedAt: changedAt)
  }

  private static func make(_ kind: Kind, _ mode: UInt32, _ owner: UInt32, changedAt: Int64) -> InspectedFile {
    InspectedFile(kind: kind, mode: mode, owner: owner, changedAt: changedAt, size: 0)
  }
}

extension Finding {
  /// The result and the code, such as "problem permissionDenied".
  var verdict: String { [result.rawValue, code?.rawValue].compactMap(\.self).joined(separator: " ") }
}
