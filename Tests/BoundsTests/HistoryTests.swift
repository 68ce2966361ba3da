import Foundation
import ResponseStorage
import TestStorage
import Testing

/// How much is tried: `BOUNDS_ROUNDS` times the histories, from the seed `BOUNDS_SEED`.
enum Effort {
  static let rounds = number("BOUNDS_ROUNDS")
  static let seed = UInt64(number("BOUNDS_SEED"))

  private static func number(_ name: String) -> Int {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) }.map { max($0, 1) } ?? 1
  }
}

struct HistoryTests {
  private static let steps = 250

  @Test(arguments: TestedEngine.all, EvictionPolicy.standard)
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
