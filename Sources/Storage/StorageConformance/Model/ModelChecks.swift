internal import StorageSPI

/// Long random sequences of calls, each of which must leave the store as it would leave a plain dictionary.
enum ModelChecks {
  static let all = [
    ConformanceCheck("random-calls", "random calls leave the store as a plain dictionary would be") {
      try await run($0, handleCount: 1)
    },
    ConformanceCheck("random-calls-shared", "random calls through two handles do too", requires: [.shared]) {
      try await run($0, handleCount: 2)
    },
  ]

  private static func run(_ context: ConformanceContext, handleCount: Int) async throws {
    var generator = context.generator()
    let pool = try SeededGenerator.pool()
    let persistent = context.subject.capabilities.contains(.persistent)
    for sequence in 1...(2 * context.rounds) {
      let commands = generator.commands(150, pool: pool, handles: handleCount, persistent: persistent)
      let replay = Replay(context: context, handleCount: handleCount, name: "\(sequence)")
      guard let failure = try await replay.failure(commands, attempt: 0) else { continue }
      throw try await explained(failure, commands, replay, sequence)
    }
  }

  /// Replays sequences, each on a new store.
  private struct Replay {
    let context: ConformanceContext
    let handleCount: Int
    let name: String

    func failure(_ commands: [ModelCommand], attempt: Int) async throws -> (step: Int, message: String)? {
      var run = try await ModelRun(context, store: "\(name)-\(attempt)", handleCount: handleCount)
      let failure = await run.firstFailure(commands)
      if failure == nil { try await run.close() }
      return failure
    }
  }

  /// The failure, with the shortest sequence found that causes it.
  private static func explained(
    _ failure: (step: Int, message: String), _ commands: [ModelCommand], _ replay: Replay, _ sequence: Int
  ) async throws -> ConformanceFailure {
    var shortest = Array(commands.prefix(failure.step + 1))
    var message = failure.message
    var (attempt, size) = (1, max(shortest.count / 2, 1))
    // Leaves out stretches of the sequence, shorter and shorter ones, and keeps what still fails.
    while attempt < 120 {
      var (start, removedAny) = (0, false)
      while start < shortest.count, attempt < 120 {
        let candidate = Array(shortest[..<start] + shortest[min(start + size, shortest.count)...])
        let failed = try? await replay.failure(candidate, attempt: attempt)
        attempt += 1
        guard let failed else {
          start += size
          continue
        }
        (shortest, message, removedAny) = (Array(candidate.prefix(failed.step + 1)), failed.message, true)
      }
      if size == 1, !removedAny { break }
      size = max(size / 2, 1)
    }
    let steps = shortest.map(\.description).joined(separator: "; ")
    return ConformanceFailure(
      "seed \(replay.context.seed), sequence \(sequence), step \(failure.step): \(failure.message); "
        + "in short: \(steps): \(message)")
  }
}
