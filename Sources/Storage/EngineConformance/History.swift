internal import CacheBase
internal import EngineAPI

/// A step of a history, as plain data. After each step the engine must hold what an `EntryTable` does that takes the same
/// step.
enum Step: Sendable {
  /// Applies a batch, which must succeed or fail as it does on the table.
  case apply([Change], within: Bounds? = nil)
  /// Scans from the beginning or, if the engine is `ordered`, compares a page with that of the table.
  case scan([ScanRequest])
  case compact
  /// Looks for damage, of which there is none.
  case check
  case advance(milliseconds: Int64)
  /// Moves the clock to the expiry of the entry that expires next, or to a millisecond before.
  case expire(isEarly: Bool)
  /// Opens the store again, if it is persistent.
  case reopen
}

/// A part of a batch.
///
/// An entry is kept as long from the time of the batch on as its metadata says from the start of the clock on.
enum Change: Sendable {
  case put(CacheKey, Entry)
  case update(CacheKey, EntryMetadata, from: Version)
  case remove(CacheKey)
  case require(CacheKey, Version)
}

/// The version of an entry that a change requires.
enum Version: Sendable {
  case absent
  /// The current checksum, at this point of the batch.
  case current
  /// Anything else.
  case other
}

/// Bounds of what the store would hold after the batch, and so much more or less.
struct Bounds: Sendable {
  var entries = 0
  var bytes = 0
  var exempt: String?
}

/// Takes steps on a store and on a table, and compares the two.
struct HistoryRun {
  private let context: ConformanceContext
  private let store: String
  private var handles: [any StorageEngine] = []
  private var table = EntryTable()
  private var usedKeys: Set<CacheKey> = []
  /// A number for each content that the store has had, and the one that was there when a handle returned a change count.
  private var version = 0
  private var counts: [[UInt64: Int]]

  /// A run on the store called `store`, which must be new.
  init(_ context: ConformanceContext, store: String, handles: Int) async throws {
    self.context = context
    self.store = store
    counts = Array(repeating: [:], count: handles)
    context.clock.set(Sample.start)
    for _ in 0..<handles { self.handles.append(try await context.open(store: store)) }
  }

  /// Takes `step` on the table and through a handle.
  mutating func perform(_ step: Step, _ handle: Int) async throws {
    let engine = handles[handle]
    switch step {
    case .apply(let changes, let bounds): try await apply(changes, bounds, to: engine)
    case .scan(let requests): for request in requests { try await scan(request, engine) }
    case .compact:
      try await engine.compact()
      if table.removeExpired(at: context.clock.now) { version += 1 }
      // Of an engine that removes expired entries by itself, nobody asks when the next entry expires.
      if !context.has(.expiring) {
        let isPast = try await engine.count().namespaces.contains { $1.earliestExpiry <= context.clock.now }
        try expect(!isPast, "after compacting the count has an earliestExpiry in the past")
      }
    case .check:
      let issues = try await engine.check().map { "\($0.kind.rawValue): \($0.message)" }
      try expect(issues.isEmpty, "a check of an intact store finds: \(issues.prefix(3).joined(separator: "; "))")
    case .advance(let milliseconds): context.clock.advance(by: .milliseconds(milliseconds))
    case .expire(let isEarly):
      let now = context.clock.now
      let next = table.entries.values.map(\.metadata.retainUntil).filter { $0 > now }.min()
      // Some entries expire so late that the clock would leave all others behind.
      guard let next, next < now.advanced(by: .seconds(Sample.hour)) else { return }
      context.clock.set(next.advanced(by: .milliseconds(isEarly ? -1 : 0)))
      try await perform(.compact, handle)
    case .reopen:
      guard context.has(.persistent) else { return }
      handles[handle] = try await context.reopen(engine, store: store)
      counts[handle] = [:]
    }
  }

  /// Throws a failure if the store holds anything else than the table, or the change count is not as it must be.
  mutating func compare(_ handle: Int) async throws {
    let engine = handles[handle]
    // Some engines know the count only after the first read.
    let early = try engine.changeCount()
    try await context.expectHolds(engine, &table, absent: usedKeys)
    guard context.has(.countsChanges), !context.has(.expiring), let count = try engine.changeCount() else { return }
    if let early { try expectEqual(count, early, "the change count after reading") }
    let known = counts[handle].updateValue(version, forKey: count) ?? version
    try expect(known == version, "the change count is \(count), as it was before a change")
  }

  /// Closes all handles.
  func close() async throws {
    try expect(
      !context.has(.countsChanges) || context.has(.expiring) || counts.contains { !$0.isEmpty },
      "the engine counts changes, and could never tell their number")
    for handle in handles { try await handle.close() }
  }

  private mutating func apply(_ changes: [Change], _ bounds: Bounds?, to engine: any StorageEngine) async throws {
    var operations: [WriteBatch.Operation] = []
    var after = table
    for change in changes {
      guard let operation = operation(change, after) else { continue }
      usedKeys.insert(operation.key)
      operations.append(operation)
      _ = try? after.apply(WriteBatch([operation]))
    }
    var batch = WriteBatch(operations)
    // Whether an expired entry counts is the engine's choice.
    if let bounds, context.has(.bounded), !after.hasExpired(at: context.clock.now) {
      batch.bounds = bounds.limits(for: after.count)
    }
    let before = table.entries
    do {
      try table.apply(batch)
    } catch {
      return try await expectError(error.code, "the batch") { try await engine.apply(batch) }
    }
    if table.entries != before { version += 1 }
    try await engine.apply(batch)
  }

  /// The operation for `change` on `table`; `nil` if its result would be the engine's choice, because the entry has
  /// expired, or if it would update a missing entry.
  private func operation(_ change: Change, _ table: EntryTable) -> WriteBatch.Operation? {
    switch change {
    case .put(let key, let entry): return .put(key, payload: entry.payload, current(entry.metadata))
    case .remove(let key): return .remove(key)
    case .update(let key, let metadata, let version):
      guard case .checksum(let checksum)? = expectation(version, key, table) else { return nil }
      return .update(key, current(metadata), from: checksum)
    case .require(let key, let version): return expectation(version, key, table).map { .require(key, $0) }
    }
  }

  private func current(_ metadata: EntryMetadata) -> EntryMetadata {
    var metadata = metadata
    let age = context.clock.now.duration(since: Sample.start)
    if metadata.retainUntil != .distantFuture { metadata.retainUntil = metadata.retainUntil.advanced(by: age) }
    return metadata
  }

  private func expectation(_ version: Version, _ key: CacheKey, _ table: EntryTable) -> WriteBatch.Expectation? {
    let metadata = table[key]?.metadata
    if metadata?.state(at: context.clock.now) == .expired { return nil }
    switch version {
    case .absent: return .absent
    case .current: return metadata.map { .checksum($0.checksum) } ?? .absent
    case .other: return .checksum(metadata.map { $0.checksum ^ 1 } ?? 0)
    }
  }

  private mutating func scan(_ request: ScanRequest, _ engine: any StorageEngine) async throws {
    guard !table.hasExpired(at: context.clock.now) else { return }
    if context.has(.ordered) {
      let (got, expected) = (try await engine.scan(request), table.scan(request))
      try expectEqual(
        got.entries.map(\.key.abbreviated), expected.entries.map(\.key.abbreviated), "a page of '\(request.prefix)'")
      try expectEqual(got.next == nil, expected.next == nil, "whether a page of '\(request.prefix)' is the last")
    }
    var whole = ScanRequest(prefix: request.prefix, limit: request.limit)
    whole.isDescending = request.isDescending && context.has(.ordered)
    let found = try await context.entries(of: engine, whole).map(\.key.abbreviated).sorted()
    let expected = table.entries.keys.filter { $0.text.utf8.starts(with: request.prefix.utf8) }
    try expectEqual(found, expected.map(\.abbreviated).sorted(), "all pages of '\(request.prefix)'")
  }
}

extension Bounds {
  /// The bounds of a batch after which the store would hold `count`; `nil` if they would be negative.
  fileprivate func limits(for count: StoreCount) -> StoreBounds? {
    let total = count.total(except: exempt)
    guard total.entries + entries >= 0, total.payloadBytes + bytes >= 0 else { return nil }
    return StoreBounds(
      maxEntries: total.entries + entries, maxPayloadBytes: total.payloadBytes + bytes, exemptNamespace: exempt)
  }
}

extension Change: CustomStringConvertible {
  var description: String {
    switch self {
    case .put(let key, let entry):
      "put \(key.abbreviated) (\(entry.payload.count) bytes, checksum \(entry.metadata.checksum))"
    case .update(let key, let metadata, let version):
      "update \(key.abbreviated) to \(metadata.checksum) from \(version)"
    case .remove(let key): "remove \(key.abbreviated)"
    case .require(let key, let version): "require \(key.abbreviated) \(version)"
    }
  }
}
