internal import CLMDB
internal import Platform
internal import StorageSPI

/// The findings of a repair, and the report made from them.
struct LMDBRepairOutcome {
  /// The number of saved entries.
  let saved: Int
  /// The damage to the structure of the file.
  let structure: IntegrityIssue?
  /// The number of entries according to the store's own record; `nil` if no record tells.
  let expected: Int?
  /// The entries that cannot be saved.
  var lost: [IntegrityIssue] = []
  /// Damaged places where entries may be missing without any other trace.
  var places: [IntegrityIssue] = []
  /// The new paths of the damaged files.
  var movedTo: [String] = []

  /// The report. If as many entries were found as the store's record says, the rest of the damage cost none.
  var report: RepairReport {
    let found = saved + lost.count
    let isComplete = expected.map { $0 == found } ?? places.isEmpty
    var mended = [structure].compactMap(\.self)
    if isComplete {
      mended += places
    } else if places.isEmpty, structure == nil || expected.map({ $0 < found }) ?? true {
      mended.append(Self.wrongTally)
      return RepairReport(saved: saved, lost: lost, mended: mended, movedTo: movedTo)
    }
    if mended.isEmpty, lost.isEmpty, isComplete { mended.append(Self.wrongTally) }
    return RepairReport(
      saved: saved, lost: isComplete ? lost : lost + places + [missing].compactMap(\.self), mended: mended,
      movedTo: movedTo)
  }

  private var missing: IntegrityIssue? {
    guard let expected, expected > saved + lost.count else { return nil }
    let count = expected - saved - lost.count
    return IntegrityIssue(
      kind: .structure, message: "by its own count the store had \(expected) entries: \(count) more are missing")
  }

  private static let wrongTally = IntegrityIssue(
    kind: .structure, message: "the tally disagrees with the entries: it was counted anew")
}

/// The destination of the entries that a repair saves.
protocol LMDBEntrySaving {
  mutating func save(_ key: CacheKey, _ entry: LMDBEntry, _ metadata: EntryMetadata) throws(CacheError)
  /// Whether an entry with the key was saved.
  mutating func holds(_ key: CacheKey) throws(CacheError) -> Bool
  /// The number of saved entries.
  mutating func count() throws(CacheError) -> Int
}

/// Saves nothing, and only remembers the keys.
struct LMDBSavedKeys: LMDBEntrySaving {
  private var keys: Set<CacheKey> = []

  mutating func save(_ key: CacheKey, _ entry: LMDBEntry, _ metadata: EntryMetadata) { keys.insert(key) }
  func holds(_ key: CacheKey) -> Bool { keys.contains(key) }
  func count() -> Int { keys.count }
}

/// Saves entries to a new store, which the engine itself creates.
struct LMDBNewStore: LMDBEntrySaving {
  /// A batch is written once its payloads reach this many bytes.
  private static let batchBytes = 1 << 20
  private static let batchEntries = 1_000

  private let environment: LMDBEnvironment
  private var batch = WriteBatch()
  private var bytes = 0

  /// Creates a new store in the folder `path`, which must contain none.
  init(path: String) throws(CacheError) {
    let opened = try LMDBOpenedEnvironment(path: path, mapSize: LMDBEnvironment.mapGranularity)
    environment = LMDBEnvironment(opened, path: path, keyCoding: LMDBKeyCoding())
    try environment.openMainDatabase()
  }

  mutating func save(_ key: CacheKey, _ entry: LMDBEntry, _ metadata: EntryMetadata) throws(CacheError) {
    batch.put(key, payload: Array(entry.payload), metadata: metadata)
    bytes += entry.payloadSize
    if bytes > Self.batchBytes || batch.operations.count >= Self.batchEntries { try write() }
  }

  mutating func holds(_ key: CacheKey) throws(CacheError) -> Bool {
    try write()
    return try environment.withReader { reader throws(CacheError) in
      try key.withBytes { bytes throws(CacheError) in
        guard try reader.begin(reading: bytes, namespaceLength: key.namespaceLength) != nil else { return false }
        reader.end()
        return true
      }
    }
  }

  mutating func count() throws(CacheError) -> Int {
    try write()
    return try environment.statistics().entries
  }

  /// Waits until everything is on disk.
  mutating func finish() throws(CacheError) {
    try write()
    let status = mdb_env_sync(environment.pointer, 1)
    guard status == MDB_SUCCESS else { throw environment.error(status, "write to") }
  }

  private mutating func write() throws(CacheError) {
    guard !batch.operations.isEmpty else { return }
    try environment.apply(batch, .relaxed)
    (batch, bytes) = (WriteBatch(), 0)
  }
}
