import FetchVocabulary
import CacheCore
import CachePresentation
import EngineConformance
import EngineAPI
import Testing

@testable import CachectlTool
@testable import CacheConfiguration

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
  func aRepairThatCannotMoveTheStoreSaysThatItIsStillInItsPlace(code: CacheError.Code) async throws {
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
  func whatIsNoDamageIsAnError(code: CacheError.Code) async throws {
    let failure = CacheError(code, "no")
    let container = try container(
      FakePlugin("memory", FakePlugin.Behaviour(openingFailure: failure)))
    let error = await #expect(throws: CacheError.self) { try await verify(container) }
    #expect(error?.code.rawValue == code.rawValue)
  }

  @Test(arguments: Backends.all)
  func aStoreOfEachEngineIsVerifiedAndCompacted(backend: String) async throws {
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
