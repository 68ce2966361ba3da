import CacheCore
import CacheDomain
import CachePresentation
import EngineAPI
import EngineConformance
import FetchVocabulary
import Foundation
import Testing
@testable import CacheConfiguration
@testable import CachectlTool

/// Mistakes in a setup, an origin or a store, and the messages that the user sees.
struct FailureTests {
  private func code(_ body: () async throws -> Void) async throws -> String? {
    do {
      try await body()
      return nil
    } catch let error as CacheError {
      #expect(!error.message.isEmpty && !error.message.hasSuffix("."))
      return error.code.rawValue
    }
  }

  @Test func anUnknownBackendListsTheKnownNames() async throws {
    let home = try TestHome()
    let known = PluginCatalogue.standard.plugins.filter { $0.declaration.name != "plist" }
    let container = try home.container(#"{"backend": "plist"}"#, catalogue: PluginCatalogue(known))
    for open in [container.openStore, container.openStoreForFetching] {
      let error = await #expect(throws: CacheError.self) { _ = try await open() }
      #expect(error?.code.rawValue == "unknownBackend")
      #expect(error?.message == "there is no backend 'plist'")
      #expect(error?.hint == "use one of: " + known.map(\.declaration.name).joined(separator: ", "))
    }
  }

  @Test func everyPluginIsFoundByItsName() throws {
    #expect(Set(Backends.all).count == Backends.all.count)
    for name in Backends.all { #expect(try PluginCatalogue.standard.plugin(named: name).declaration.name == name) }
    #expect(throws: CacheError.self) { _ = try PluginCatalogue.standard.plugin(named: "") }
  }

  /// The bytes that overwrite a store's files.
  enum Garbage: CaseIterable, Sendable {
    case text, sameSize

    func bytes(size: Int) -> Data {
      switch self {
      case .text: Data("this is no store\n".utf8)
      case .sameSize: Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) })
      }
    }
  }

  @Test(arguments: Backends.persistent, Garbage.allCases)
  func aDamagedStoreDoesNotPreventAFetch(backend: String, garbage: Garbage) async throws {
    let home = try TestHome()
    let container = try home.container(backend: backend)
    let filled = try await container.openStore()
    _ = try await fetchCities(container, filled)
    try await filled.close()
    for file in try home.storeFiles() {
      let url = URL(filePath: "\(home.home)/\(file)")
      let size = try Data(contentsOf: url).count
      try garbage.bytes(size: size).write(to: url)
    }
    let damaged = try home.storeFiles().map { try Data(contentsOf: URL(filePath: "\(home.home)/\($0)")) }

    let store = try await container.openStoreForFetching()
    let snapshots = try await fetchCities(container, store)
    #expect(snapshots.map(\.source) == [.origin])
    #expect(snapshots.map(\.value.cities.count) == [25])
    let warnings = Set(snapshots.flatMap(\.warnings).map(\.error.code.rawValue))
    #expect(!warnings.isEmpty && warnings.isSubset(of: ["damaged", "unsupportedFormat"]), "\(warnings)")
    try await store.close()

    // An engine may read its files only when a call needs them.
    let code = try await code { _ = try await container.openStore().administration.statistics() }
    #expect(["damaged", "unsupportedFormat"].contains(code), "\(code ?? "no error")")
    #expect(try home.storeFiles().map { try Data(contentsOf: URL(filePath: "\(home.home)/\($0)")) } == damaged)
  }

  @Test(arguments: Backends.persistent)
  func aFailedRepairClosesTheNewStoreAndAMissingStoreIsBusy(backend: String) async throws {
    let home = try TestHome()
    let container = try home.container(backend: backend)
    let repair = {
      _ = try await container.repairStore(isDryRun: false, progress: { _ in }) { _, _ throws(CacheError) in
        UnreadableStore()
      }
    }
    #expect(try await code(repair) == "busy")
    for _ in 0..<2 {
      // Plist makes no file for an empty store.
      let filled = try await container.openStore()
      _ = try await fetchCities(container, filled)
      try await filled.close()
      #expect(try await code(repair) == "unreachable")
    }
  }

  private struct UnreadableStore: DamagedStoreReader {
    func begin(_ request: ScanRequest) throws(CacheError) { throw CacheError(.unreachable, "no process") }
    func next() async throws(CacheError) -> DamagedStoreItem { .end }
  }

  @Test(arguments: Backends.persistent) func aStoreThatCannotBeCreatedIsAnError(backend: String) async throws {
    let home = try TestHome()
    let file = home.folder + "/file"
    try Data("a file".utf8).write(to: URL(filePath: file))
    let inHome = try home.container(#"{"backend": "\#(backend)"}"#, home: file + "/home")
    let elsewhere = try home.container(
      #"{"backend": "\#(backend)", "backends": {"\#(backend)": {"path": "\#(file)/store"}}}"#)
    for container in [inHome, elsewhere] {
      #expect(try await code { _ = try await container.openStore() } == "cannotCreate")
      #expect(try await code { _ = try await container.openStoreForFetching() } == "cannotCreate")
    }
    #expect(try Data(contentsOf: URL(filePath: file)) == Data("a file".utf8))
  }
}

struct MaintenanceTests {
  private let home: TestHome

  init() throws { home = try TestHome() }

  private func container(_ plugin: FakePlugin) throws -> AppDIContainer {
    // The configuration names an engine that is built in; the catalogue has another one under its name.
    try home.container(#"{"backend": "memory"}"#, catalogue: PluginCatalogue([plugin]))
  }

  private func verify(_ container: AppDIContainer) async throws(CacheError) -> VerificationReport {
    try await Session(container).verify(progress: ProgressDisplay("Verifying", isVisible: false))
  }

  @Test func aStoreThatCannotBeOpenedIsAnIssueAndRepaired() async throws {
    let behaviour = FakePlugin.Behaviour(openingFailure: CacheError(.damaged, "torn", hint: "mend it"))
    let plugin = FakePlugin("memory", behaviour)
    let container = try container(plugin)
    let report = try await verify(container)
    #expect(
      JSONText.text(report.view(backend: "memory").json)
        == #"{"backend":"memory","entriesChecked":0,"issues":[{"key":null,"kind":"structure","message":"torn"}]}"#)
  }

  /// A store of several files is moved with a list of them, for which a full disk has no room.
  @Test(arguments: [CacheError.Code.noSpace, .busy])
  func aRepairThatCannotMoveTheStoreReportsItsPlace(code: CacheError.Code) async throws {
    let container = try container(
      FakePlugin("memory", FakePlugin.Behaviour(removalFailure: CacheError(code, "torn", hint: "wait"))))
    let error = await #expect(throws: CacheError.self) {
      try await container.repairStore(isDryRun: false, progress: { _ in }) { _, _ throws(CacheError) in NoReader() }
    }
    #expect(error?.code == code)
    let isFull = code == .noSpace
    #expect(error?.message == (isFull ? "torn; the damaged store is still in its place" : "torn"))
    #expect(error?.hint == (isFull ? "free some space, then repeat the repair" : "wait"))
  }

  private struct NoReader: DamagedStoreReader {
    func begin(_ request: ScanRequest) throws(CacheError) {}
    func next() async throws(CacheError) -> DamagedStoreItem { .end }
  }

  @Test(arguments: [CacheError.Code.busy, .permissionDenied, .unsupportedFormat, .cannotCreate])
  func failuresOtherThanDamageAreErrors(code: CacheError.Code) async throws {
    let failure = CacheError(code, "no")
    let container = try container(FakePlugin("memory", FakePlugin.Behaviour(openingFailure: failure)))
    let error = await #expect(throws: CacheError.self) { try await verify(container) }
    #expect(error?.code.rawValue == code.rawValue)
  }

  @Test(arguments: Backends.all) func aStoreOfEachEngineIsVerifiedAndCompacted(backend: String) async throws {
    let container = try home.container(backend: backend)
    let store = try await container.openStore()
    _ = try await fetchCities(container, store)
    var steps: [Int] = []
    let report = try await store.administration.verify { done, _ in steps.append(done) }
    let view = report.view(backend: backend)
    #expect(JSONText.text(view.json) == #"{"backend":"\#(backend)","entriesChecked":1,"issues":[]}"#)
    #expect(steps == [0, 1])
    #expect(try await store.administration.compact().removed == 0)
    home.clock.advance(by: .seconds(365 * 86_400))
    let compaction = RecordView(try await store.administration.compact(), backend: backend)
    #expect(compaction.json["removed"] == .integer(1) && compaction.json["entriesAfter"] == .integer(0))
    try await store.close()
  }
}
