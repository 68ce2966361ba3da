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

  private func verify(_ container: AppDIContainer) async throws(CacheError) -> IntegrityView {
    try await container.verify(
      withStore: { body throws(CacheError) in
        let store = try await container.openStore()
        let view = try await body(store)
        try await store.close()
        return view
      }, progress: { _, _ in })
  }

  @Test func aStoreThatCannotBeOpenedIsAnIssueAndRepaired() async throws {
    let behaviour = FakePlugin.Behaviour(openingFailure: CacheError(.damaged, "torn", hint: "mend it"))
    let plugin = FakePlugin("memory", behaviour)
    let container = try container(plugin)
    let before = try await verify(container)
    #expect(before.hasIssues)
    #expect(
      JSONText.text(before.json)
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
    let presenter = container.makeStorePresenter(store)
    var steps: [Int] = []
    let view = try await presenter.verify { done, _ in steps.append(done) }
    #expect(JSONText.text(view.json) == #"{"backend":"\#(backend)","entriesChecked":1,"issues":[]}"#)
    #expect(steps == [0, 1])
    #expect(try await presenter.compact().json["removed"] == .integer(0))
    home.clock.advance(by: .seconds(365 * 86_400))
    let compaction = try await presenter.compact()
    #expect(compaction.json["removed"] == .integer(1) && compaction.json["entriesAfter"] == .integer(0))
    try await store.close()
  }
}
