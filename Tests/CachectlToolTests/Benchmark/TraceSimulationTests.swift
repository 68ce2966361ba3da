import FetchVocabulary
import CacheCore
import Testing

@testable import CachectlTool
@testable import EngineBenchmark

/// Simulations of small traces.
struct TraceSimulationTests {
  /// Replays look-ups of keys, each with the size of its value.
  private func hitRatio(
    _ lookUps: [(key: Int, size: Int)], _ policy: EvictionPolicy, size: String
  ) async throws -> Double {
    var (trace, numbers) = (Trace(), [Int: Int]())
    for (key, size) in lookUps {
      let number = numbers[key] ?? trace.keyCount
      numbers[key] = number
      trace.append(number, size: size)
    }
    let plugin = try TestHome().container(backend: "memory").catalogue.plugin(named: "memory")
    let result = try await TraceSimulation(trace, plugin: plugin).run(policy, try #require(CacheSize(size)))
    return Double(result.hits) / Double(lookUps.count)
  }

  /// A loop over ten keys, fifty times. The first ten look-ups miss whatever the cache holds.
  @Test(arguments: [("90%", 0), ("100%", 0.98)])
  func aLoopLargerThanTheCacheIsTheWorstForTheLeastRecentlyUsed(size: String, expected: Double) async throws {
    let loop = (0..<500).map { (key: $0 % 10, size: 1_000) }
    #expect(try await hitRatio(loop, .lru, size: size) == expected)
  }

  @Test(arguments: [("100", 0.25), ("400", 0.5)])
  func sizesAreBytes(size: String, expected: Double) async throws {
    let lookUps = [(key: 1, size: 100), (key: 2, size: 300), (key: 1, size: 100), (key: 2, size: 300)]
    #expect(try await hitRatio(lookUps, .lru, size: size) == expected)
  }

  /// A hundred posters weigh three times as much as a thousand pages.
  @Test func manyPagesFitWhereAFewPostersWere() async throws {
    var number: UInt64 = 1
    let lookUps = (0..<20_000).map { _ in
      number = number &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let part = Double(number >> 33) / Double(1 << 31)
      // The lower its number, the more often a key is looked up.
      let key = Int(1_100 * part * part)
      return (key: key, size: key.isMultiple(of: 11) ? 150_000 : 5_000)
    }
    let without = try await hitRatio(lookUps, .lru, size: "10%")
    #expect(try await hitRatio(lookUps, .size, size: "10%") > without + 0.2)
  }
}
