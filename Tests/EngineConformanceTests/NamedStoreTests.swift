import EngineAPI
import EngineConformance
import Synchronization
import TestStorage
import Testing

/// An engine whose stores have only a name, as on a server. It records the requested names.
private struct NamedPlugin: StoragePlugin {
  let registry = StoreRegistry()
  let names = NameList()

  let declaration = EngineDeclaration(
    name: "named", version: "1", summary: "tables in memory, each under a name",
    capabilities: [.persistent, .shared, .atomicBatches],
    options: [EngineOption("prefix", .storeName, default: .text("cachectl"), help: "which store"), .durability])

  func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
    let name = try configuration.text("prefix")
    names.add(name)
    return RegistryEngine(registry: registry, path: name, clock: configuration.clock)
  }
}

/// Names, each once.
private final class NameList: Sendable {
  private let names = Mutex<Set<String>>([])

  var all: Set<String> { names.withLock { $0 } }

  func add(_ name: String) { _ = names.withLock { $0.insert(name) } }
}

@Suite("Stores that have only a name")
struct NamedStoreTests {
  private let plugin = NamedPlugin()

  private func run(_ names: [String]) async throws -> ConformanceReport {
    let subject = try ConformanceSubject(
      plugin: plugin, values: ["prefix": .text("precious")], scratchFolder: "/unused")
    let checks = try names.map { try #require(ConformanceSuite.check(named: $0)) }
    return await ConformanceSuite.run(subject, only: checks)
  }

  @Test("Each check and each run has names of its own, and never the caller's")
  func namesAreUnique() async throws {
    let names = ["read-calls-body-once", "versions"]
    let runs = [try await run(names), try await run(names)]
    #expect(runs.map(\.passed) == [2, 2])
    #expect(plugin.names.all.count == 4)
    for name in plugin.names.all {
      #expect(EngineOption.isStoreName(name) && name.hasPrefix("conformance-"), "\(name)")
    }
  }

  @Test("A store that is opened again in a check has the same name, and another store another")
  func reopenedStoresKeepTheirNames() async throws {
    #expect(try await run(["payload-bytes"]).passed == 1)
    #expect(plugin.names.all.count == 1)
    #expect(try await run(["shared-separate-stores"]).passed == 1)
    #expect(plugin.names.all.count == 3)
  }

  @Test("Nothing is left behind, in whatever state a check has left its stores")
  func leavesNothingBehind() async throws {
    let report = try await run(["large-batch", "closed-calls-fail", "shared-separate-stores", "payload-bytes"])
    #expect(report.failures.isEmpty)
    for name in plugin.names.all {
      let count = try plugin.registry.withStore(name) { $0.table.entries.count }
      #expect(count == 0, "\(name)")
    }
  }
}
