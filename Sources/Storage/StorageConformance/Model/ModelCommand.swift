internal import StorageSPI

/// One step of a random sequence. It is plain data, independent of the steps before it, so that steps can be left out.
struct ModelCommand: Sendable, CustomStringConvertible {
  /// The action of a step.
  enum Action: Sendable {
    case write([Change], bounds: Bounds? = nil)
    case read(CacheKey)
    case scan(KeyRange, limit: Int)
    case statistics
    case checkIntegrity
    case compact
    case advanceClock(milliseconds: Int)
    case reopen
  }

  /// A part of a batch.
  enum Change: Sendable {
    case put(CacheKey, [UInt8], checksum: UInt64, lifetime: Int)
    case remove(CacheKey)
    /// A requirement that holds at this point of the batch.
    case requireTrue(CacheKey)
    /// A requirement that does not hold, so that the batch must fail.
    case requireFalse(CacheKey)
  }

  /// The bounds of a batch, relative to what the store would contain after it.
  enum Bounds: String, Sendable, CaseIterable {
    /// Exactly as much as there would be, to the entry and to the byte.
    case exact
    /// One entry less: the batch must fail.
    case oneEntryLess = "one entry less"
    /// One byte less: the batch must fail.
    case oneByteLess = "one byte less"
    /// Exactly as much as there would be without one namespace, which is exempt.
    case exactWithoutMovies = "exact without movies"
  }

  /// The index of the open handle for the step.
  let handle: Int
  /// The action of the step.
  let action: Action

  var description: String {
    let text =
      switch action {
      case .write(let changes, let bounds):
        "apply [\(changes.map(\.description).joined(separator: ", "))]"
          + (bounds.map { " within \($0.rawValue)" } ?? "")
      case .read(let key): "read \(key.abbreviated)"
      case .scan(let range, let limit):
        "scan '\(range.prefix.prefix(40))' after \(range.after?.abbreviated ?? "nothing") limit \(limit)"
      case .statistics: "statistics"
      case .checkIntegrity: "checkIntegrity"
      case .compact: "compact"
      case .advanceClock(let milliseconds): "advance clock \(milliseconds) ms"
      case .reopen: "reopen"
      }
    return handle == 0 ? text : "handle \(handle): \(text)"
  }
}

extension ModelCommand.Change: CustomStringConvertible {
  var description: String {
    switch self {
    case .put(let key, let payload, let checksum, let lifetime):
      "put \(key.abbreviated) (\(payload.count) bytes, checksum \(checksum), \(lifetime) ms)"
    case .remove(let key): "remove \(key.abbreviated)"
    case .requireTrue(let key): "require \(key.abbreviated) as it is"
    case .requireFalse(let key): "require \(key.abbreviated) as it is not"
    }
  }
}

extension SeededGenerator {
  /// The keys of random sequences: few, so that steps meet, of several namespaces, some of them long and alike.
  static func pool() throws -> [CacheKey] {
    let long = String(repeating: "k", count: 560)
    let texts = [
      "a/!", "cities/a", "cities/aa", "cities/ab", "cities/b", "cities/\(long)", "cities/\(long)/1", "cities/\(long)/2",
      "cities/\(long.prefix(504))", "movies/a", "movies/b%", "movies/\(long)1", "movies/\(long)2", "z9/~",
    ]
    return try texts.map { try CacheKey($0) }
  }

  /// `count` random steps through `handles` handles; `persistent` if stores can be reopened.
  mutating func commands(_ count: Int, pool: [CacheKey], handles: Int, persistent: Bool) -> [ModelCommand] {
    (0..<count).map { _ in
      let handle = Int.random(in: 0..<handles, using: &self)
      return ModelCommand(handle: handle, action: action(pool, persistent: persistent))
    }
  }

  private mutating func action(_ pool: [CacheKey], persistent: Bool) -> ModelCommand.Action {
    switch Int.random(in: 0..<100, using: &self) {
    case 0..<50:
      .write(
        (0..<Int.random(in: 1...5, using: &self)).map { _ in change(pool) },
        bounds: happens(40) ? ModelCommand.Bounds.allCases.randomElement(using: &self) : nil)
    case 50..<62: .read(key(pool))
    case 62..<80: scan(pool)
    case 80..<84: .statistics
    case 84..<86: .checkIntegrity
    case 86..<90: .compact
    case 90..<96: .advanceClock(milliseconds: Int.random(in: 1...400, using: &self))
    default: persistent ? .reopen : .statistics
    }
  }

  private mutating func change(_ pool: [CacheKey]) -> ModelCommand.Change {
    switch Int.random(in: 0..<100, using: &self) {
    case 0..<60:
      let size = happens(10) ? Int.random(in: 0...20_000, using: &self) : Int.random(in: 0...40, using: &self)
      let lifetime = happens(40) ? Int.random(in: 1...800, using: &self) : 1_000_000
      return .put(key(pool), bytes(size), checksum: next() >> UInt64(happens(50) ? 0 : 62), lifetime: lifetime)
    case 60..<80: return .remove(key(pool))
    case 80..<94: return .requireTrue(key(pool))
    default: return .requireFalse(key(pool))
    }
  }

  private mutating func scan(_ pool: [CacheKey]) -> ModelCommand.Action {
    let text = key(pool).text
    let prefix = happens(40) ? "" : String(text.prefix(Int.random(in: 0...text.utf8.count, using: &self)))
    let after = happens(50) ? key(pool) : nil
    return .scan(KeyRange(prefix: prefix, after: after), limit: Int.random(in: 1...(pool.count + 1), using: &self))
  }

  private mutating func key(_ pool: [CacheKey]) -> CacheKey { pool[Int.random(in: 0..<pool.count, using: &self)] }
}
