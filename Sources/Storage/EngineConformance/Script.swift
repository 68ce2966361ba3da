internal import EngineAPI

/// A step of a check as plain data. After each step the engine must hold what an `EntryTable` does that takes the same step.
enum Step: Sendable {
  /// Applies a batch, which must succeed or fail as it does on the table.
  case apply([Change], within: Bounds? = nil)
  /// Compares pages with those of the table; only for an engine that is `ordered`.
  case scans([ScanRequest])
  case compact
  /// Looks for damage, of which there is none.
  case check
  case advance(milliseconds: Int64)
  /// Opens the store again, if it is persistent.
  case reopen
  case all([Step])

  /// The step, or the steps that it consists of.
  var flat: [Step] { if case .all(let steps) = self { steps.flatMap(\.flat) } else { [self] } }
}

/// A part of a batch. A key is a text, which a script can make longer.
enum Change: Sendable {
  case store(String, Entry)
  case renew(String, EntryMetadata, from: Version)
  case remove(String)
  case require(String, Version)

  /// Stores `Sample.entry(number, size: size, seconds: seconds)`.
  static func put(_ key: String, _ number: Int, size: Int? = nil, seconds: Int = Sample.hour) -> Change {
    .store(key, Sample.entry(number, size: size, seconds: seconds))
  }

  /// Stores an entry whose number depends on its size: entries that differ must have different checksums.
  static func put(_ key: String, size: Int? = nil, seconds: Int = Sample.hour) -> Change {
    put(key, size.map { $0 + 1_000 } ?? 1, size: size, seconds: seconds)
  }

  /// Replaces the metadata by that of `Sample.entry(number, seconds: seconds)`.
  static func update(_ key: String, _ number: Int, seconds: Int = Sample.hour, from version: Version = .current)
    -> Change
  {
    .renew(key, Sample.metadata(UInt64(number), seconds: seconds), from: version)
  }
}

/// The version of an entry that a change requires.
enum Version: Sendable {
  case absent
  case checksum(UInt64)
  /// What there is at this point of the batch.
  case current
  /// Anything else, so that the batch must fail.
  case other
}

/// The bounds of a batch.
enum Bounds: Sendable {
  case limits(entries: Int = .max, bytes: Int = .max)
  /// What the store would hold after the batch, and so much more or less.
  case exact(entries: Int = 0, bytes: Int = 0, exempt: String? = nil)
}

/// A batch of `changes`.
func apply(_ changes: Change..., within bounds: Bounds? = nil) -> Step { .apply(changes, within: bounds) }

/// Steps for each of `values`.
func each<Value>(_ values: some Sequence<Value>, _ steps: (Value) -> [Step]) -> Step { .all(values.flatMap(steps)) }

/// Tries `changes` within bounds that are an entry too narrow, a byte too narrow, and just wide enough.
func fill(_ changes: [Change], exempt: String? = nil, then next: Step = .check) -> Step {
  .all([
    .apply(changes, within: .exact(entries: -1, exempt: exempt)), next,
    .apply(changes, within: .exact(bytes: -1, exempt: exempt)), next, .apply(changes, within: .exact(exempt: exempt)),
  ])
}

/// Tries `changes` with a requirement that does not hold, in every place, and takes the step `next` after each try.
func fail(_ changes: [Change], then next: Step = .check) -> Step {
  each(0...changes.count) { place in
    var failing = changes
    failing.insert(.require("absent/a", .other), at: place)
    return [.apply(failing), next]
  }
}

/// Moves the clock by `seconds`.
func advance(_ seconds: Int64) -> Step { .advance(milliseconds: seconds * 1_000) }

extension ConformanceCheck {
  /// A check that takes steps.
  ///
  /// - Parameter isRepeated: whether to take them a second time, with long keys, which some engines shorten, and through
  ///   two handles in turn if the engine is `shared`.
  static func script(
    _ name: String, _ summary: String, requires: [EngineCapability] = [], isRepeated: Bool = true,
    _ steps: @autoclosure @escaping @Sendable () -> [Step]
  ) -> ConformanceCheck {
    ConformanceCheck(name, summary, requires: requires) { context in
      for isSecond in isRepeated ? [false, true] : [false] {
        let handles = isSecond && context.has(.shared) ? 2 : 1
        var run = try await ScriptRun(
          context, store: isSecond ? "second" : "store", handles: handles,
          padding: isSecond ? String(repeating: "k", count: 690) : "")
        for (number, step) in steps().flatMap(\.flat).enumerated() {
          do {
            try await run.perform(step, number % handles)
            for handle in 0..<handles { try await run.compare(handle) }
          } catch {
            throw ConformanceFailure("step \(number + 1), \(step): \(error)")
          }
        }
        try await run.perform(.reopen, 0)
        try await run.compare(0)
        try await run.close()
      }
    }
  }
}

/// Takes steps on a store and on a table, and compares the two.
struct ScriptRun {
  private let context: ConformanceContext
  private let store: String
  private let padding: String
  private var handles: [any StorageEngine] = []
  private var table = EntryTable()
  private var usedKeys: Set<CacheKey> = []

  /// A run on the store called `store`, which must be new, with keys that have `padding` after their namespaces.
  init(_ context: ConformanceContext, store: String, handles: Int, padding: String = "") async throws {
    self.context = context
    self.store = store
    self.padding = padding
    context.clock.set(Sample.start)
    self.handles = try await context.open(handles, store: store)
  }

  /// Takes `step` on the table and through a handle.
  mutating func perform(_ step: Step, _ handle: Int) async throws {
    let engine = handles[handle]
    switch step {
    case .apply(let changes, let bounds): try await apply(changes, bounds, to: engine)
    case .scans(let requests): for request in requests { try await scan(request, engine) }
    case .compact:
      try await engine.compact()
      _ = table.removeExpired(at: context.clock.now)
      // Of an engine that removes by itself what has expired, nobody asks when the next entry does.
      if !context.has(.expiring) {
        let isPast = try await engine.count().namespaces.contains { $1.earliestExpiry <= context.clock.now }
        try expect(!isPast, "after compacting the count has an earliestExpiry in the past")
      }
    case .check:
      let issues = try await engine.check().map { "\($0.kind.rawValue): \($0.message)" }
      try expect(issues.isEmpty, "a check of an intact store finds: \(issues.prefix(3).joined(separator: "; "))")
    case .advance(let milliseconds): context.clock.advance(by: .milliseconds(milliseconds))
    case .all(let steps): for step in steps { try await perform(step, handle) }
    case .reopen:
      guard context.has(.persistent) else { return }
      handles[handle] = try await context.reopen(engine, store: store)
    }
  }

  /// Throws a failure if the store holds anything else than the table.
  mutating func compare(_ handle: Int) async throws {
    try await context.expectHolds(handles[handle], &table, absent: usedKeys)
  }

  /// Closes all handles.
  func close() async throws {
    for handle in handles { try await handle.close() }
  }

  private mutating func apply(_ changes: [Change], _ bounds: Bounds?, to engine: any StorageEngine) async throws {
    var batch = WriteBatch()
    var after = table
    for change in changes {
      guard let operation = try operation(change, after) else { continue }
      batch.append(operation)
      var part = WriteBatch()
      part.append(operation)
      _ = try? after.apply(part)
    }
    // Whether an expired entry counts is the engine's choice.
    if let bounds, context.has(.bounded), !after.hasExpired(at: context.clock.now) {
      batch.bounds = bounds.limits(for: after.count)
    }
    do {
      try table.apply(batch)
    } catch {
      return try await expectError(error.code, "the batch") { try await engine.apply(batch) }
    }
    try await engine.apply(batch)
  }

  /// The operation for `change` on `table`; `nil` if its result would be the engine's choice, because the entry has expired,
  /// or if it would be an update of what is not there.
  private mutating func operation(_ change: Change, _ table: EntryTable) throws -> WriteBatch.Operation? {
    switch change {
    case .store(let text, let entry): return .put(try key(text), payload: entry.payload, entry.metadata)
    case .remove(let text): return .remove(try key(text))
    case .renew(let text, let metadata, let version):
      let key = try key(text)
      guard case .checksum(let checksum)? = expectation(version, key, table) else { return nil }
      return .update(key, metadata, from: checksum)
    case .require(let text, let version):
      let key = try key(text)
      return expectation(version, key, table).map { .require(key, $0) }
    }
  }

  private func expectation(_ version: Version, _ key: CacheKey, _ table: EntryTable) -> WriteBatch.Expectation? {
    let metadata = table[key]?.metadata
    if metadata?.state(at: context.clock.now) == .expired { return nil }
    switch version {
    case .absent: return .absent
    case .checksum(let checksum): return .checksum(checksum)
    case .current: return metadata.map { .checksum($0.checksum) } ?? .absent
    case .other: return .checksum(metadata.map { $0.checksum ^ 1 } ?? 0)
    }
  }

  private mutating func scan(_ request: ScanRequest, _ engine: any StorageEngine) async throws {
    guard context.has(.ordered), !table.hasExpired(at: context.clock.now) else { return }
    let (got, expected) = (try await engine.scan(request), table.scan(request))
    try expectEqual(
      got.entries.map(\.key.abbreviated), expected.entries.map(\.key.abbreviated), "a page of '\(request.prefix)'")
    try expectEqual(got.next == nil, expected.next == nil, "whether a page of '\(request.prefix)' is the last")
  }

  private mutating func key(_ text: String) throws -> CacheKey {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    let key = try CacheKey(parts.joined(separator: "/\(padding)"))
    usedKeys.insert(key)
    return key
  }
}

extension Bounds {
  /// The bounds of a batch after which the store would hold `count`; `nil` if they would be negative.
  fileprivate func limits(for count: StoreCount) -> StoreBounds? {
    switch self {
    case .limits(let entries, let bytes): return StoreBounds(maxEntries: entries, maxPayloadBytes: bytes)
    case .exact(let entries, let bytes, let exempt):
      let total = count.total(except: exempt)
      guard total.entries + entries >= 0, total.payloadBytes + bytes >= 0 else { return nil }
      return StoreBounds(
        maxEntries: total.entries + entries, maxPayloadBytes: total.payloadBytes + bytes, exemptNamespace: exempt)
    }
  }
}

extension WriteBatch {
  /// Adds `operation`.
  mutating func append(_ operation: Operation) {
    switch operation {
    case .put(let key, let payload, let metadata): put(key, payload: payload, metadata: metadata)
    case .update(let key, let metadata, let checksum): update(key, metadata: metadata, from: checksum)
    case .remove(let key): remove(key)
    case .require(let key, let expectation): require(key, expectation)
    }
  }
}

extension Step: CustomStringConvertible {
  var description: String {
    switch self {
    case .apply(let changes, let bounds):
      let list = changes.prefix(8).map(\.description).joined(separator: ", ")
      return "apply [\(list)\(changes.count > 8 ? ", ..." : "")]" + (bounds.map { " within \($0)" } ?? "")
    case .scans(let requests):
      guard let request = requests.first, requests.count == 1 else { return "\(requests.count) scans" }
      return "scan '\(request.prefix.prefix(40))' after '\(request.position?.prefix(40) ?? "")' limit \(request.limit)"
    case .compact: return "compact"
    case .check: return "check"
    case .advance(let milliseconds): return "advance clock \(milliseconds) ms"
    case .reopen: return "reopen"
    case .all(let steps): return "\(steps.count) steps"
    }
  }
}

extension Change: CustomStringConvertible {
  var description: String {
    switch self {
    case .store(let key, let entry):
      "put \(key.prefix(40)) (\(entry.payload.count) bytes, checksum \(entry.metadata.checksum))"
    case .renew(let key, let metadata, let version): "update \(key.prefix(40)) to \(metadata.checksum) from \(version)"
    case .remove(let key): "remove \(key.prefix(40))"
    case .require(let key, let version): "require \(key.prefix(40)) \(version)"
    }
  }
}
