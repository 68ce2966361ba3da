import CachePresentation
import Testing

@testable import CachectlTool
@testable import CacheConfiguration

struct FolderChecksTests {
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
    let findings = FolderChecks(files: Self.files(home)).home("/u/home")
    #expect(findings.map(\.verdict) == verdicts, "\(findings.map(\.message))")
    #expect(findings.allSatisfy { $0.message.contains("/u/home") && $0.name == "home" })
    #expect(findings.allSatisfy { $0.result == .ok || !$0.hint.isEmpty }, "each finding has its remedy")
  }

  @Test(
    arguments: [
      (0o777, ["problem permissionDenied"]), (0o1777, ["ok"]), (0o755, ["ok"]), (0o775, ["ok"]),
    ] as [(UInt32, [String])])
  func aFolderOnTheWayIsNotOpenToAll(mode: UInt32, verdicts: [String]) {
    for home in [InspectedFile.folder(), nil] {
      let findings = FolderChecks(files: Self.files(home, parent: .folder(mode: mode))).home("/u/home")
      #expect(findings.map(\.verdict).filter { $0 != "ok" } == verdicts.filter { $0 != "ok" })
    }
  }

  @Test func aHomeThatMayOnlyBeReadIsAWarning() {
    var files = Self.files(.folder(mode: 0o500))
    files.readOnly = ["/u/home"]
    #expect(FolderChecks(files: files).home("/u/home").map(\.verdict) == ["warning"])
  }

  @Test func aHomeThatCannotBeMadeIsAProblem() {
    var files = Self.files(nil)
    files.readOnly = ["/u"]
    #expect(FolderChecks(files: files).home("/u/home/deep").map(\.verdict) == ["problem cannotCreate"])
    files.readOnly = []
    files.files["/u"] = .file()
    #expect(FolderChecks(files: files).home("/u/home/deep").map(\.verdict) == ["problem cannotCreate"])
  }

  @Test func theSuperuserIsWarnedOfWhatBelongsToAnother() {
    var files = Self.files(.folder())
    files.user = 0
    let findings = FolderChecks(files: files).home("/u/home")
    #expect(findings.map(\.verdict) == ["warning"])
    #expect(findings[0].message.contains("1000"))
  }

  @Test func pluginsAreChangedByTheirOwnerAlone() {
    var files = FakeFiles()
    #expect(FolderChecks(files: files).plugins([]).map(\.verdict) == ["ok"])
    #expect(FolderChecks(files: files).plugins(["/p"]).map(\.verdict) == ["ok"])
    files.files["/p"] = .folder(mode: 0o755, owner: 0)
    files.files["/p/redis.so"] = .file(mode: 0o755, owner: 0)
    #expect(FolderChecks(files: files).plugins(["/q", "/p"]).map(\.verdict) == ["ok"])
    files.files["/p/redis.so"] = .file(mode: 0o775, owner: 7)
    let findings = FolderChecks(files: files).plugins(["/q", "/p"])
    #expect(findings.map(\.verdict) == ["problem permissionDenied", "problem permissionDenied"])
    #expect(findings.allSatisfy { $0.message.contains("/p/redis.so") })
  }

  @Test(
    arguments: [
      (0o775, ["problem permissionDenied"]), (0o777, ["problem permissionDenied"]), (0o1777, ["ok"]), (0o755, ["ok"]),
    ] as [(UInt32, [String])])
  func theWayToPluginsIsChangedByTheirOwnerAlone(mode: UInt32, verdicts: [String]) {
    var files = FakeFiles()
    files.files["/x"] = .folder(mode: mode, owner: 0)
    files.files["/x/p"] = .folder(mode: 0o755, owner: 0)
    #expect(FolderChecks(files: files).plugins(["/x/p"]).map(\.verdict) == verdicts)
  }

  @Test(
    arguments: [
      (FileSystemSpace(free: 1 << 40, isReadOnly: false), "ok"),
      (FileSystemSpace(free: 1_000 << 20, isReadOnly: false), "warning"),
      (FileSystemSpace(free: 64 << 20, isReadOnly: false), "warning"),
      (FileSystemSpace(free: (64 << 20) - 1, isReadOnly: false), "problem noSpace"),
      (FileSystemSpace(free: 1 << 40, isReadOnly: true), "warning"), (nil, "warning"),
    ] as [(FileSystemSpace?, String)])
  func thereIsRoomForWhatMayBeStored(space: FileSystemSpace?, verdict: String) {
    var files = Self.files(.folder())
    files.free = space
    let finding = SpaceCheck(files: files).finding(home: "/u/home", maximumBytes: 1 << 30, usedBytes: 10)
    #expect(finding.verdict == verdict, "\(finding.message)")
  }

  @Test func whatIsStoredAlreadyNeedsNoMoreRoom() {
    var files = Self.files(.folder())
    files.free = FileSystemSpace(free: 100 << 20, isReadOnly: false)
    let finding = SpaceCheck(files: files).finding(home: "/u/home", maximumBytes: 1 << 30, usedBytes: 950 << 20)
    #expect(finding.verdict == "ok")
  }
}
