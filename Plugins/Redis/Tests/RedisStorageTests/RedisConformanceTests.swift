import StorageConformance
import StorageSPI
import Testing

@testable import HiredisStorage

/// Runs `check` over `plugin` at `url`, with a seed that a failure names.
func expectKept(
  _ check: ConformanceCheck, _ plugin: any StoragePlugin, url: String, _ values: [String: OptionValue] = [:]
) async throws {
  let subject = try ConformanceSubject(plugin: plugin, values: patient(url, values), scratchFolder: "/unused")
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

@Suite("A cluster keeps the storage contract, each batch atomic in each of its parts")
struct RedisClusterConformanceTests {
  @Test(arguments: RedisPlugin(.cluster).checks)
  func keepsContract(_ check: ConformanceCheck) async throws {
    try await expectKept(check, RedisPlugin(.cluster), url: try RedisCluster.shared.get().url)
  }
}

@Suite("A server that evicts by itself keeps the storage contract, but for bounds, as long as it evicts nothing")
struct RedisCacheConformanceTests {
  private static let server = Result { try RedisServer() }

  @Test(arguments: RedisPlugin(.evictingServer).checks)
  func keepsContract(_ check: ConformanceCheck) async throws {
    try await expectKept(check, RedisPlugin(.evictingServer), url: try Self.server.get().url)
  }
}

@Suite("One server keeps the storage contract")
struct RedisConformanceTests {
  private static let server = Result { try RedisServer() }

  @Test(arguments: RedisPlugin().checks)
  func keepsContract(_ check: ConformanceCheck) async throws {
    try await expectKept(check, RedisPlugin(), url: try Self.server.get().url)
  }

  @Test func leavesNothingOnTheServer() async throws {
    let server = try RedisServer()
    for name in ["batch-of-a-thousand", "random-calls", "shared-separate-stores"] {
      try await expectKept(try #require(ConformanceSuite.check(named: name)), RedisPlugin(), url: server.url)
    }
    // What remains goes by itself, in twice the time in which a batch is sent again: the tally, with the latest batches.
    for key in try server.cli("--raw", "KEYS", "*").split(separator: "\n") {
      #expect(key.hasSuffix(":tally"), "\(key)")
      let left = try #require(try server.ask("PTTL", String(key)).integer)
      #expect((1...2 * patience + 1_000).contains(left), "\(key) stays for \(left) ms")
    }
  }
}
