import EngineSupport
import Foundation
import LMDBStorage
import PlistStorage
import SQLiteStorage
import SeededNumbers
import StorageSPI
import Synchronization

/// An engine whose store is damaged, and how the store comes to be.
enum DamagedEngine: String, CaseIterable, Sendable {
  case lmdb
  /// A store as it is left by an import: one batch.
  case lmdbImported
  case sqlite
  /// A store whose last commits are in its log.
  case sqliteWithLog
  case plist

  var plugin: any StoragePlugin {
    switch self {
    case .lmdb, .lmdbImported: LMDBPlugin()
    case .sqlite, .sqliteWithLog: SQLitePlugin()
    case .plist: PlistPlugin()
    }
  }

  /// The files that hold entries, among those of the store.
  func holdsEntries(_ name: String) -> Bool {
    switch self {
    case .lmdb, .lmdbImported: name == "store/data.mdb"
    case .sqlite: name == "store"
    case .sqliteWithLog: name == "store" || name == "store-wal"
    case .plist: name.hasSuffix(".json")
    }
  }

  var batches: Int { self == .lmdbImported ? 1 : 25 }
  /// Whether the files are copied while the engine has them open.
  var isCopiedWhileOpen: Bool { self == .sqliteWithLog }
}

/// A store whose content is known, with every version of an entry that it ever held.
final class KnownStore: Sendable {
  typealias Entries = [CacheKey: EntryTable.Entry]

  let engine: DamagedEngine
  /// The contents of the files that hold entries, by their names.
  let files: [String: [UInt8]]
  /// The files that say whose the store is.
  private let marks: [String: [UInt8]]
  let entries: Entries
  private let versions: [CacheKey: [EntryTable.Entry]]
  private let folder: String

  init(_ engine: DamagedEngine) async throws {
    self.engine = engine
    let isInMemory = FileManager.default.isWritableFile(atPath: "/dev/shm")
    folder = (isInMemory ? "/dev/shm/" : NSTemporaryDirectory()) + "repair-tests-" + UUID().uuidString
    var (history, random) = (History(isOfOneBatch: engine.batches == 1), SeededGenerator(seed: 12))
    try Self.empty(folder)
    let store = try await engine.plugin.open(Self.configuration(engine, folder))
    for number in 1...engine.batches { try await store.apply(try history.batch(number, &random)) }
    if !engine.isCopiedWhileOpen { try await store.close() }
    let all = try Self.files(in: folder)
    files = all.filter { engine.holdsEntries($0.key) }
    marks = all.filter { $0.key.hasSuffix(".uses") || $0.key.hasSuffix("store.lock") }
    if engine.isCopiedWhileOpen { try await store.close() }
    (entries, versions) = (history.entries, history.versions)
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  private static func empty(_ folder: String) throws {
    try? FileManager.default.removeItem(atPath: folder)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  private static func configuration(_ engine: DamagedEngine, _ folder: String) throws -> EngineConfiguration {
    try EngineConfiguration(
      for: engine.plugin.declaration, values: ["path": .text(folder + "/store")],
      clock: FixedClock(now: Timestamp(milliseconds: 0)))
  }

  private static func files(in folder: String) throws -> [String: [UInt8]] {
    var files: [String: [UInt8]] = [:]
    for name in try FileManager.default.subpathsOfDirectory(atPath: folder) {
      var isFolder: ObjCBool = false
      _ = FileManager.default.fileExists(atPath: "\(folder)/\(name)", isDirectory: &isFolder)
      if !isFolder.boolValue { files[name] = try [UInt8](Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)"))) }
    }
    return files
  }

  /// The store's files as they are now, without its marks unless these have changed.
  func currentFiles() throws -> [String: [UInt8]] { try Self.files(in: folder).filter { marks[$0.key] != $0.value } }

  /// Makes the store consist of `files` and its marks, and of nothing else.
  func write(_ files: [String: [UInt8]]) throws {
    try Self.empty(folder)
    for (name, bytes) in marks.merging(files, uniquingKeysWith: { $1 }) {
      let url = URL(fileURLWithPath: "\(folder)/\(name)")
      try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(bytes).write(to: url)
    }
  }

  var plan: RepairPlan {
    RepairPlan(suffix: ".damaged") { [versions] key, payload, metadata in
      let entry = EntryTable.Entry(payload: payload.withUnsafeBufferPointer { Array($0) }, metadata: metadata)
      return versions[key]?.contains(entry) == true
    }
  }

  func repair() async throws -> RepairReport {
    try await engine.plugin.repair(Self.configuration(engine, folder), plan)
  }

  /// The report of a dry run, and the entries that it judges sound: of several versions the one that was stored last.
  func previewRepair() async throws -> (report: RepairReport, sound: Entries) {
    let sound = Mutex(Entries())
    let isSound = plan.isSound
    let plan = RepairPlan(suffix: "") { key, payload, metadata in
      guard isSound(key, payload, metadata) else { return false }
      sound.withLock { sound in
        if let other = sound[key], other.metadata.storedAt > metadata.storedAt { return }
        sound[key] = EntryTable.Entry(payload, metadata)
      }
      return true
    }
    let report = try await engine.plugin.previewRepair(Self.configuration(engine, folder), plan)
    return (report, sound.withLock { $0 })
  }

  func open() async throws -> any StorageEngine {
    try await engine.plugin.open(Self.configuration(engine, folder))
  }

  /// What is read of the keys that ever were, and is sound; nothing where the store cannot be opened.
  func readable() async -> Entries {
    guard let store = try? await open() else { return [:] }
    var found: Entries = [:]
    for (key, known) in versions {
      guard let entry = try? await store.read(key, { EntryTable.Entry($0, $1) }), known.contains(entry) else {
        continue
      }
      found[key] = entry
    }
    try? await store.close()
    return found
  }

  /// All that the store holds, which must be sound, and nothing else wrong with it.
  func everything() async throws -> (entries: Entries, issues: [IntegrityIssue]) {
    let store = try await open()
    var found: Entries = [:]
    for summary in try await store.scan(KeyRange(), limit: 10_000) {
      found[summary.key] = try await store.read(summary.key) { EntryTable.Entry($0, $1) }
    }
    var issues = try await store.checkIntegrity()
    for (key, entry) in found where versions[key]?.contains(entry) != true {
      issues.append(IntegrityIssue(key: key, kind: .checksumMismatch, message: "\(key) was never stored so"))
    }
    if try await store.statistics().entries != found.count {
      issues.append(IntegrityIssue(kind: .structure, message: "the statistics count others"))
    }
    try await store.close()
    return (found, issues)
  }
}

extension EntryTable.Entry {
  fileprivate init(_ payload: Span<UInt8>, _ metadata: EntryMetadata) {
    self.init(payload: payload.withUnsafeBufferPointer { Array($0) }, metadata: metadata)
  }
}

private struct FixedClock: WallClock {
  let now: Timestamp
}

/// What was stored, replaced and removed.
private struct History {
  let isOfOneBatch: Bool
  var entries: KnownStore.Entries = [:]
  var versions: [CacheKey: [EntryTable.Entry]] = [:]

  init(isOfOneBatch: Bool) { self.isOfOneBatch = isOfOneBatch }

  mutating func batch(_ number: Int, _ random: inout SeededGenerator) throws -> WriteBatch {
    var batch = WriteBatch()
    for _ in 0..<(isOfOneBatch ? 120 : 12) {
      let key = try CacheKey(
        random.pick(["cities", "movies", "posters"]) + "/v1/page=\(Int.random(in: 0..<60, using: &random))")
      if !isOfOneBatch, random.isOne(in: 3) {
        batch.remove(key)
        entries[key] = nil
        continue
      }
      let entry = entry(number, &random)
      batch.put(key, payload: entry.payload, metadata: entry.metadata)
      entries[key] = entry
      versions[key, default: []].append(entry)
    }
    return batch
  }

  private func entry(_ number: Int, _ random: inout SeededGenerator) -> EntryTable.Entry {
    let size = random.isOne(in: 10) ? 9_000 : Int.random(in: 0..<600, using: &random)
    let text = "\(random.next()) payload of batch \(number) "
    let payload = Array(String(repeating: text, count: size / text.utf8.count + 1).utf8.prefix(size))
    let storedAt = Int64(number) * 1_000
    return EntryTable.Entry(
      payload: payload,
      metadata: EntryMetadata(
        storedAt: Timestamp(milliseconds: storedAt), freshUntil: Timestamp(milliseconds: storedAt + 3_600_000),
        retainUntil: Timestamp(milliseconds: storedAt + Int64(number) << 22),
        contentType: random.pick(["application/json", "text/plain", "text/x-own"]),
        attributes: random.isOne(in: 3) ? ["etag": "W/\"\(number)\""] : [:], checksum: random.next()))
  }
}
