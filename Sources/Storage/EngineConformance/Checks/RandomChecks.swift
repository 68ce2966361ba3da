internal import CacheBase
internal import EngineAPI

/// Long random histories: of batches, requirements, bounds, expiry, scans, counts and openings.
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
    for number in 1...(4 * context.rounds) {
      let keys = Array(Self.keys.shuffled(using: &generator).prefix(Int.random(in: 3...14, using: &generator)))
      var sequence: Steps = []
      for _ in 0..<100 { sequence.append((Int.random(in: 0..<handles, using: &generator), generator.step(keys))) }
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
    var run = try await HistoryRun(context, store: store, handles: handles)
    for (number, (handle, step)) in sequence.enumerated() {
      do {
        // The new store is empty.
        if number == 0 { try await run.compare(handle) }
        try await run.perform(step, handle)
        try await run.compare((handle + number) % handles)
      } catch {
        return (number, "\(error)")
      }
    }
    try await run.close()
    return nil
  }

  /// Keys of several namespaces, some of them long and alike.
  private static let keys: [CacheKey] = {
    let long = String(repeating: "k", count: 560)
    return [
      "a/!", "cities/a", "cities/aa", "cities/ab", "cities/b", "cities/\(long)", "cities/\(long)/1", "cities/\(long)/2",
      "cities/\(long.prefix(504))", "movies/a", "movies/b%", "movies/\(long)1", "movies/\(long)2", "z9/~",
    ].compactMap { try? CacheKey($0) }
  }()
}

extension SeededGenerator {
  /// A random step over `keys`, which are few, so that steps meet.
  fileprivate mutating func step(_ keys: [CacheKey]) -> Step {
    switch Int.random(in: 0..<100, using: &self) {
    case 0..<60:
      let count = Int.random(in: 0...7, using: &self)
      return .apply((0..<count).map { _ in change(keys) }, within: happens(40) ? bounds() : nil)
    case 60..<75: return .scan((0..<5).map { _ in request(keys) })
    case 75..<79: return .check
    case 79..<83: return .compact
    case 83..<89: return .expire(isEarly: happens(50))
    case 89..<94: return .advance(milliseconds: Int64.random(in: -100_000...400_000, using: &self))
    default: return .reopen
    }
  }

  private mutating func request(_ keys: [CacheKey]) -> ScanRequest {
    let prefix = happens(40) ? "" : String(key(keys).text.prefix(Int.random(in: 0...600, using: &self)))
    return ScanRequest(
      prefix: prefix, after: happens(50) ? key(keys).text : nil, limit: Int.random(in: 1...15, using: &self),
      isDescending: happens(30))
  }

  private mutating func change(_ keys: [CacheKey]) -> Change {
    let key = key(keys)
    let version = happens(93) ? Version.current : .other
    switch Int.random(in: 0..<100, using: &self) {
    case 0..<50:
      let size = Int.random(in: 0...(happens(10) ? 20_000 : 40), using: &self)
      return .put(key, Entry(payload: bytes(size), metadata: metadata()))
    case 50..<68: return .update(key, metadata(), from: version)
    case 68..<82: return .remove(key)
    default: return .require(key, happens(10) ? .absent : version)
    }
  }

  /// Metadata of which every field varies.
  private mutating func metadata() -> EntryMetadata {
    let checksum = next() >> UInt64(happens(90) ? 0 : 62)
    var metadata = Sample.metadata(checksum, seconds: happens(40) ? Int.random(in: 1...3_600, using: &self) : 1_000_000)
    if happens(5) { metadata.retainUntil = happens(80) ? .distantFuture : Timestamp(milliseconds: 1) }
    if happens(10) { metadata.storedAt = happens(50) ? .distantFuture : Timestamp(milliseconds: 0) }
    metadata.freshUntil = Sample.start.advanced(by: .milliseconds(Int64.random(in: 0...5_000_000, using: &self)))
    for name in ["a", "b", "c"] where happens(30) { metadata.attributes[name] = "\(next() % 1_000)" }
    return metadata
  }

  private mutating func bounds() -> Bounds {
    let exempt = happens(25) ? "movies" : nil
    switch Int.random(in: 0..<4, using: &self) {
    case 0: return Bounds(entries: -1, exempt: exempt)
    case 1: return Bounds(bytes: -1, exempt: exempt)
    default: return Bounds(exempt: exempt)
    }
  }

  private mutating func key(_ keys: [CacheKey]) -> CacheKey { keys[Int.random(in: 0..<keys.count, using: &self)] }
}
