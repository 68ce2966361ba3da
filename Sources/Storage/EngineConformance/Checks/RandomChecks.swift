internal import EngineAPI

/// Long random sequences of steps.
enum RandomChecks {
  static let all = [
    ConformanceCheck("random-calls", "random calls leave the store as they leave a table in memory") {
      try await run($0, handles: 1)
    },
    ConformanceCheck("random-calls-shared", "random calls through a dozen handles do too", requires: [.shared]) {
      try await run($0, handles: 12)
    },
  ]

  private typealias Steps = [(handle: Int, step: Step)]

  private static func run(_ context: ConformanceContext, handles: Int) async throws {
    var generator = context.generator()
    for number in 1...(2 * context.rounds) {
      var sequence: Steps = []
      for _ in 0..<150 { sequence.append((Int.random(in: 0..<handles, using: &generator), generator.step())) }
      var attempts = 0
      func firstFailure(_ steps: Steps) async throws -> (step: Int, message: String)? {
        attempts += 1
        return try await failure(steps, context, store: "\(number)-\(attempts)", handles)
      }
      guard let failed = try await firstFailure(sequence) else { continue }
      var shortest = Array(sequence.prefix(failed.step + 1))
      var message = failed.message
      // Leaves out stretches of the sequence, shorter and shorter ones, and keeps what still fails.
      var size = max(shortest.count / 2, 1)
      while attempts < 120 {
        var (start, removedAny) = (0, false)
        while start < shortest.count, attempts < 120 {
          let candidate = Array(shortest[..<start] + shortest[min(start + size, shortest.count)...])
          if let failed = try? await firstFailure(candidate) {
            shortest = Array(candidate.prefix(failed.step + 1))
            (message, removedAny) = (failed.message, true)
          } else {
            start += size
          }
        }
        if size == 1, !removedAny { break }
        size = max(size / 2, 1)
      }
      let steps = shortest.map { $0.handle == 0 ? "\($0.step)" : "handle \($0.handle): \($0.step)" }
      throw ConformanceFailure(
        "seed \(context.seed), sequence \(number), step \(failed.step): \(failed.message); in short: "
          + "\(steps.joined(separator: "; ")): \(message)")
    }
  }

  /// The first step of `sequence` after which engine and table differ, on a new store; `nil` if they never do.
  private static func failure(
    _ sequence: Steps, _ context: ConformanceContext, store: String, _ handles: Int
  ) async throws -> (step: Int, message: String)? {
    var run = try await ScriptRun(context, store: store, handles: handles)
    for (number, (handle, step)) in sequence.enumerated() {
      do {
        try await run.perform(step, handle)
        try await run.compare((handle + number) % handles)
      } catch {
        return (number, "\(error)")
      }
    }
    try await run.close()
    return nil
  }
}

extension SeededGenerator {
  /// A random step.
  fileprivate mutating func step() -> Step {
    switch Int.random(in: 0..<100, using: &self) {
    case 0..<56:
      return .apply(
        (0..<Int.random(in: 1...5, using: &self)).map { _ in change() }, within: happens(40) ? bounds() : nil)
    case 56..<78:
      let prefix = happens(40) ? "" : String(key().prefix(Int.random(in: 0...600, using: &self)))
      let limit = Int.random(in: 1...15, using: &self)
      return .scans([
        ScanRequest(prefix: prefix, after: happens(50) ? key() : nil, limit: limit, isDescending: happens(30))
      ])
    case 78..<82: return .check
    case 82..<87: return .compact
    case 87..<95: return .advance(milliseconds: Int64.random(in: 1...400_000, using: &self))
    default: return .reopen
    }
  }

  private mutating func change() -> Change {
    let version = happens(90) ? Version.current : .other
    let seconds = happens(40) ? Int.random(in: 1...3_600, using: &self) : 1_000_000
    let checksum = next() >> UInt64(happens(50) ? 0 : 62)
    switch Int.random(in: 0..<100, using: &self) {
    case 0..<50:
      let size = Int.random(in: 0...(happens(10) ? 20_000 : 40), using: &self)
      return .store(key(), Entry(payload: bytes(size), metadata: Sample.metadata(checksum, seconds: seconds)))
    case 50..<65: return .renew(key(), Sample.metadata(checksum, seconds: seconds), from: version)
    case 65..<80: return .remove(key())
    default: return .require(key(), version)
    }
  }

  private mutating func bounds() -> Bounds {
    switch Int.random(in: 0..<4, using: &self) {
    case 0: .exact(entries: -1)
    case 1: .exact(bytes: -1)
    case 2: .exact(exempt: "movies")
    default: .exact()
    }
  }

  private mutating func key() -> String { Self.keys[Int.random(in: 0..<Self.keys.count, using: &self)] }

  /// Few keys, so that steps meet, of several namespaces, some of them long and alike.
  private static let keys: [String] = {
    let long = String(repeating: "k", count: 560)
    return [
      "a/!", "cities/a", "cities/aa", "cities/ab", "cities/b", "cities/\(long)", "cities/\(long)/1", "cities/\(long)/2",
      "cities/\(long.prefix(504))", "movies/a", "movies/b%", "movies/\(long)1", "movies/\(long)2", "z9/~",
    ]
  }()
}
