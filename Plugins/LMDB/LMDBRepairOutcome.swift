internal import CLMDB
internal import Glibc
internal import StorageSPI

/// What a repair has found out, and what it makes of that.
struct LMDBRepairOutcome {
  /// The number of entries that were saved.
  let saved: Int
  /// What is wrong with the structure of the file.
  let structure: IntegrityIssue?
  /// The number of entries that the store had by its own record; `nil` where none tells.
  let expected: Int?
  /// The entries that cannot be saved.
  var lost: [IntegrityIssue] = []
  /// Where something is wrong, so that entries may be missing of which nothing else tells.
  var places: [IntegrityIssue] = []
  /// Where the damaged files are.
  var movedTo: [String] = []

  /// The report. Where as many entries were found as the store's record says, the rest of the damage cost none.
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

/// Where a repair puts the entries that it saves.
protocol LMDBEntrySaving {
  mutating func save(_ key: CacheKey, _ entry: LMDBEntry, _ metadata: EntryMetadata) throws(StorageError)
  /// Whether an entry of the key was saved.
  mutating func holds(_ key: CacheKey) throws(StorageError) -> Bool
  /// The number of entries that were saved.
  mutating func count() throws(StorageError) -> Int
}

/// Puts them nowhere, and remembers their keys.
struct LMDBSavedKeys: LMDBEntrySaving {
  private var keys: Set<CacheKey> = []

  mutating func save(_ key: CacheKey, _ entry: LMDBEntry, _ metadata: EntryMetadata) { keys.insert(key) }
  func holds(_ key: CacheKey) -> Bool { keys.contains(key) }
  func count() -> Int { keys.count }
}

/// Puts them into a new store, made by the engine itself.
struct LMDBNewStore: LMDBEntrySaving {
  /// The bytes of payloads after which a batch is written.
  private static let batchBytes = 1 << 20
  private static let batchEntries = 1_000

  private let environment: LMDBEnvironment
  private var batch = WriteBatch()
  private var bytes = 0

  /// A new store in the folder `path`, where none is.
  init(path: String) throws(StorageError) {
    let opened = try LMDBOpenedEnvironment(path: path, mapSize: LMDBEnvironment.mapGranularity)
    environment = LMDBEnvironment(opened, path: path, keyCoding: LMDBKeyCoding()) { _ in }
    try environment.openMainDatabase()
  }

  mutating func save(_ key: CacheKey, _ entry: LMDBEntry, _ metadata: EntryMetadata) throws(StorageError) {
    batch.put(key, payload: Array(entry.payload), metadata: metadata)
    bytes += entry.payloadSize
    if bytes > Self.batchBytes || batch.operations.count >= Self.batchEntries { try write() }
  }

  mutating func holds(_ key: CacheKey) throws(StorageError) -> Bool {
    try write()
    return try environment.withReader { reader throws(StorageError) in
      try key.withBytes { bytes throws(StorageError) in
        guard try reader.begin(reading: bytes, namespaceLength: key.namespaceLength) != nil else { return false }
        reader.end()
        return true
      }
    }
  }

  mutating func count() throws(StorageError) -> Int {
    try write()
    return try environment.statistics().entries
  }

  /// Waits until all is on the disk.
  mutating func finish() throws(StorageError) {
    try write()
    let status = mdb_env_sync(environment.pointer, 1)
    guard status == MDB_SUCCESS else { throw environment.error(status, "write to") }
  }

  private mutating func write() throws(StorageError) {
    guard !batch.operations.isEmpty else { return }
    try environment.apply(batch, .relaxed)
    (batch, bytes) = (WriteBatch(), 0)
  }
}
