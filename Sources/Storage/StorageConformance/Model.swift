internal import EngineSupport
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

/// Runs a random sequence on an engine and on the model, and compares the two after every step.
struct ModelRun {
  private let context: ConformanceContext
  private let store: String
  private var model = ModelStore()
  private var handles: [any StorageEngine] = []

  /// A run on the store called `store`, which must be new, through `handleCount` handles.
  init(_ context: ConformanceContext, store: String, handleCount: Int) async throws {
    self.context = context
    self.store = store
    context.clock.set(Sample.start)
    for _ in 0..<handleCount { handles.append(try await context.open(store: store)) }
  }

  /// The index of the first step after which engine and model differ, and the difference; `nil` if they never do.
  mutating func firstFailure(_ commands: [ModelCommand]) async -> (step: Int, message: String)? {
    for (step, command) in commands.enumerated() {
      do {
        try await perform(command)
        try await compare(handles[(command.handle + step) % handles.count])
      } catch {
        return (step, "\(error)")
      }
    }
    return nil
  }

  /// Closes all handles.
  func close() async throws {
    for handle in handles { try await handle.close() }
  }

  private mutating func perform(_ command: ModelCommand) async throws {
    let engine = handles[command.handle]
    let now = context.clock.now
    switch command.action {
    case .write(let changes, let bounds): try await write(changes, bounds, engine)
    case .read(let key): try model.check(read: try await engine.entry(key), of: key, at: now)
    case .scan(let request):
      guard context.subject.capabilities.contains(.ordered) else { return }
      try model.check(scan: try await engine.scan(request).entries, of: request, at: now)
    case .statistics: try model.check(count: try await engine.count(), at: now)
    case .checkIntegrity:
      let issues = try await engine.check()
      try expect(issues.isEmpty, "an integrity check finds: \(issues.first?.message ?? "")")
    case .compact:
      try await engine.compact()
      model.compact(at: now)
    case .advanceClock(let milliseconds): context.clock.advance(by: .milliseconds(milliseconds))
    case .reopen: handles[command.handle] = try await context.reopen(engine, store: store)
    }
  }

  private mutating func write(
    _ changes: [ModelCommand.Change], _ bounds: ModelCommand.Bounds?, _ engine: any StorageEngine
  ) async throws {
    let bounds = context.subject.capabilities.contains(.bounded) ? bounds : nil
    let (batch, error) = model.apply(changes, within: bounds, at: context.clock.now)
    guard let error else { return try await engine.apply(batch) }
    let what = error == .conflict ? "a requirement that does not hold" : "bounds that are exceeded"
    try await expectError(error, "a batch with \(what)") { try await engine.apply(batch) }
  }

  /// Compares everything: all summaries and all payloads.
  private mutating func compare(_ engine: any StorageEngine) async throws {
    let now = context.clock.now
    try model.check(scan: try await engine.scanAll().sorted { $0.key < $1.key }, of: ScanRequest(limit: 10_000), at: now)
    for key in model.entries.keys { try model.check(read: try await engine.entry(key), of: key, at: now) }
  }
}

/// One step of a random sequence. It is plain data, independent of the steps before it, so that steps can be left out.
struct ModelCommand: Sendable, CustomStringConvertible {
  /// The action of a step.
  enum Action: Sendable {
    case write([Change], bounds: Bounds? = nil)
    case read(CacheKey)
    case scan(ScanRequest)
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
      case .scan(let request):
        "scan '\(request.prefix.prefix(40))' after \(request.position?.prefix(40) ?? "nothing") limit \(request.limit)"
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
    let limit = Int.random(in: 1...(pool.count + 1), using: &self)
    return .scan(ScanRequest(prefix: prefix, after: after?.text, limit: limit))
  }

  private mutating func key(_ pool: [CacheKey]) -> CacheKey { pool[Int.random(in: 0..<pool.count, using: &self)] }
}

/// What a store must contain, as a plain dictionary. An expired entry may or may not exist until the store is
/// compacted; once it was seen to be gone, it must stay away.
struct ModelStore: Sendable {
  /// The entries.
  private(set) var entries: [CacheKey: Entry] = [:]

  /// A batch, and the error with which it must fail; `nil` if it must succeed.
  typealias Prediction = (batch: WriteBatch, error: CacheError.Code?)

  /// Makes a batch of `changes`, predicts its result, and changes the model as the batch changes the store.
  ///
  /// Leaves out requirements on expired entries, and bounds while there are such entries: whether they hold is the
  /// engine's choice.
  mutating func apply(
    _ changes: [ModelCommand.Change], within bounds: ModelCommand.Bounds?, at now: Timestamp
  ) -> Prediction {
    var batch = WriteBatch()
    var (after, fails) = (entries, false)
    for change in changes {
      switch change {
      case .put(let key, let payload, let checksum, let lifetime):
        let entry = Self.entry(payload, checksum, retainUntil: now.advanced(by: .milliseconds(lifetime)), at: now)
        batch.put(key, entry)
        after[key] = entry
      case .remove(let key):
        batch.remove(key)
        after[key] = nil
      case .requireTrue(let key) where !isExpired(after[key], at: now):
        batch.require(key, after[key].map { .checksum($0.metadata.checksum) } ?? .absent)
      case .requireFalse(let key) where !isExpired(after[key], at: now):
        batch.require(key, after[key].map { .checksum($0.metadata.checksum ^ 1) } ?? .checksum(0))
        fails = true
      case .requireTrue, .requireFalse: continue
      }
    }
    if let bounds, !after.values.contains(where: { isExpired($0, at: now) }) {
      batch.bounds = bounds.bounds(for: Self.count(after))
    }
    if fails { return (batch, .conflict) }
    if let bounds = batch.bounds, !bounds.contain(Self.count(after)) { return (batch, .overBounds) }
    entries = after
    return (batch, nil)
  }

  private static func count(_ entries: [CacheKey: Entry]) -> StoreCount {
    EntryTable(entries).count
  }

  private static func entry(_ payload: [UInt8], _ checksum: UInt64, retainUntil: Timestamp, at now: Timestamp) -> Entry
  {
    Entry(
      payload: payload,
      metadata: EntryMetadata(
        storedAt: now, freshUntil: now, retainUntil: retainUntil, contentType: "type/\(checksum % 7)",
        attributes: ["etag": "\(checksum)"], checksum: checksum))
  }

  private func isExpired(_ entry: Entry?, at now: Timestamp) -> Bool { entry?.metadata.state(at: now) == .expired }

  /// Removes the entries that have expired at `now`.
  mutating func compact(at now: Timestamp) { entries = entries.filter { !isExpired($0.value, at: now) } }

  /// Throws a failure unless a read of `key` may return `got`.
  mutating func check(read got: Entry?, of key: CacheKey, at now: Timestamp) throws {
    if got == nil, isExpired(entries[key], at: now) { entries[key] = nil }
    try expectEqual(got, entries[key], at: key)
  }

  /// Throws a failure unless a scan of `request` may return `got`.
  mutating func check(scan got: [ScannedEntry], of request: ScanRequest, at now: Timestamp) throws {
    var rest = got[...]
    for key in entries.keys.filter(request.contains).sorted() {
      guard let entry = entries[key], got.count < request.limit || !rest.isEmpty else { break }
      if let summary = rest.first, summary.key == key {
        try expectEqual(summary.metadata, entry.metadata, at: key)
        try expectEqual(summary.payloadBytes, entry.payload.count, "\(key.abbreviated): payloadBytes")
        rest.removeFirst()
      } else {
        try expect(isExpired(entry, at: now), "a scan leaves out \(key.abbreviated)")
        entries[key] = nil
      }
    }
    try expect(rest.isEmpty, "a scan gives \(rest.first?.key.abbreviated ?? ""), which must not be there")
    try expect(got.count <= request.limit, "a scan with the limit \(request.limit) gives \(got.count) entries")
  }

  /// Throws a failure unless the count is between those without and those with the expired entries.
  func check(count: StoreCount, at now: Timestamp) throws {
    for name in Set(entries.keys.map(\.namespace)).union(count.namespaces.keys) {
      let all = entries.filter { $0.key.namespace == name }.values
      let least = all.filter { !isExpired($0, at: now) }
      let got = count[name]
      let bytes = (least.reduce(0) { $0 + $1.payload.count }, all.reduce(0) { $0 + $1.payload.count })
      try expect(
        (least.count...all.count).contains(got.entries) && (bytes.0...bytes.1).contains(got.payloadBytes),
        "the count of \(name): expected \(least.count) to \(all.count) entries of \(bytes.0) to \(bytes.1) bytes, got "
          + "\(got.entries) of \(got.payloadBytes)")
    }
  }
}

extension ModelCommand.Bounds {
  /// The bounds for a store that would hold `count` after the batch; `nil` if no bounds can express that.
  fileprivate func bounds(for count: StoreCount) -> StoreBounds? {
    let exempt = self == .exactWithoutMovies ? "movies" : nil
    let total = count.total(except: exempt)
    let entries = total.entries - (self == .oneEntryLess ? 1 : 0)
    let payloadBytes = total.payloadBytes - (self == .oneByteLess ? 1 : 0)
    guard entries >= 0, payloadBytes >= 0 else { return nil }
    return StoreBounds(maxEntries: entries, maxPayloadBytes: payloadBytes, exemptNamespace: exempt)
  }
}
