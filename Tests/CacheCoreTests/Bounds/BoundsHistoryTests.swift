import Foundation
import CacheCore
import TestStorage
import Testing

/// How much is tried: `BOUNDS_ROUNDS` times the histories, from the seed `BOUNDS_SEED`; if that is set, with each pair of an
/// engine and a policy.
enum Effort {
  static let rounds = number("BOUNDS_ROUNDS")
  static let seed = UInt64(number("BOUNDS_SEED"))

  /// The pairs of an engine and one of `policies`. The core chooses what is evicted, whatever the engine: so one engine is
  /// tried with all policies, and each other engine with one.
  static func pairs(_ policies: [EvictionPolicy]) -> [(TestedEngine, EvictionPolicy)] {
    TestedEngine.all.enumerated().flatMap { index, engine in
      let chosen = index == 0 || rounds > 1 ? policies : [policies[index % policies.count]]
      return chosen.map { (engine, $0) }
    }
  }

  private static func number(_ name: String) -> Int {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) }.map { max($0, 1) } ?? 1
  }
}

struct BoundsHistoryTests {
  private static let steps = 250

  @Test(arguments: Effort.pairs(EvictionPolicy.standard))
  func afterEveryStepTheStoreHoldsExactlyWhatTheModelSays(engine: TestedEngine, policy: EvictionPolicy) async throws {
    for round in 0..<Effort.rounds {
      for (sweeps, shift) in [(false, UInt64(0)), (true, 1 << 32)] {
        let seed = Effort.seed + UInt64(round) + shift
        var history = try await History(engine, policy, seed: seed, sweeps: sweeps)
        try await history.run(steps: Self.steps)
      }
    }
  }
}
