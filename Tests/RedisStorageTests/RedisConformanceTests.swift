import EngineAPI
import EngineConformance
import Testing

@testable import RedisStorage

/// Runs `check` over `plugin` at `url`, with a seed that a failure names.
func expectKept(_ check: ConformanceCheck, _ plugin: any StoragePlugin = RedisPlugin(), url: String) async throws {
  let subject = try ConformanceSubject(plugin: plugin, values: patient(url), scratchFolder: "/unused")
  let report = await ConformanceSuite.run(subject, only: [check])
  let outcome = try #require(report.outcomes.first)
  #expect(outcome.result == .passed, "\(check.summary); seed \(report.seed): \(outcome.message)")
}

extension StoragePlugin {
  /// The checks of all that the engine claims to do.
  var checks: [ConformanceCheck] {
    ConformanceSuite.checks.filter { declaration.capabilities.isSuperset(of: $0.requiredCapabilities) }
  }
}

/// The engine with the claim that holds on one server: each batch is all or nothing.
private struct AtomicRedisPlugin: EngineLayer {
  let base: any StoragePlugin = RedisPlugin()
  var declaration: EngineDeclaration {
    base.declaration.with(base.declaration.capabilities.union([.atomicBatches]))
  }
  func wrap(_ engine: any StorageEngine) -> any StorageEngine { engine }
}

@Suite("One server keeps the storage contract, and makes each batch as a whole")
struct RedisConformanceTests {
  private static let server = Result { try RedisServer() }

  @Test(arguments: AtomicRedisPlugin().checks)
  func keepsContract(_ check: ConformanceCheck) async throws {
    try await expectKept(check, AtomicRedisPlugin(), url: try Self.server.get().url)
  }

  @Test func leavesNothingOnTheServer() async throws {
    let server = try RedisServer()
    for name in ["large-batch", "random-calls", "shared-separate-stores"] {
      try await expectKept(try #require(ConformanceSuite.check(named: name)), url: server.url)
    }
    #expect(try server.ask("DBSIZE").integer == 0)
  }
}

@Suite("A cluster keeps the storage contract")
struct RedisClusterConformanceTests {
  @Test(arguments: RedisPlugin().checks)
  func keepsContract(_ check: ConformanceCheck) async throws {
    try await expectKept(check, url: try RedisCluster.shared.get().url)
  }
}
