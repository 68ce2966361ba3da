import EngineAPI
import Foundation

@testable import LMDBStorage

/// A directory, removed at the end, and engines on a store in it.
final class TestStore: Sendable {
  let folder: String
  var path: String { folder + "/store" }
  var dataFile: String { path + "/data.mdb" }

  init() throws {
    folder = FileManager.default.temporaryDirectory.path + "/lmdb-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  func open(
    durability: Durability = .relaxed, mapSize: Int64 = 1_048_576, clock: any WallClock = FixedClock(now: .zero)
  ) async throws -> any StorageEngine {
    let plugin = LMDBPlugin()
    return try await plugin.open(
      EngineConfiguration(
        for: plugin.declaration,
        values: [
          "path": .text(path), "mapSize": .integer(mapSize), "durability": .text(durability.rawValue),
        ], clock: clock))
  }

  var configuration: EngineConfiguration {
    get throws {
      try EngineConfiguration(
        for: LMDBPlugin().declaration, values: ["path": .text(path)], clock: FixedClock(now: .zero))
    }
  }

  /// Creates the folder with the mark of a store, and nothing else.
  func mark() throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    try StoreMark(inFolder: path).create()
  }

  /// The data file's content.
  var bytes: [UInt8] { get throws { try [UInt8](Data(contentsOf: URL(fileURLWithPath: dataFile))) } }

  /// An environment next to the environment of the process, as another process would have one.
  func openEnvironment(snapshots: SnapshotKeeper = SnapshotKeeper()) throws -> LMDBEnvironment {
    try LMDBFiles(path).create(mapSize: 1_048_576)
    return try LMDBEnvironment(path: path, mapSize: 1_048_576, snapshots: snapshots)
  }

  /// Writes to the store as a defect, or a program of another version, would.
  func write(_ body: (LMDBTransaction) throws -> Void) throws {
    let environment = try openEnvironment()
    environment.gate.enter()
    defer { environment.gate.leave() }
    let transaction = try environment.beginWriting(.relaxed)
    defer { transaction.abort() }
    try body(transaction)
    try transaction.commit()
  }
}

struct FixedClock: WallClock {
  let now: Timestamp
}

extension Timestamp {
  static let zero = Timestamp(milliseconds: 0)
}

extension EntryMetadata {
  static func sample(
    retainUntil: Int64 = 3_000, attributes: [String: String] = [:], checksum: UInt64 = 7
  ) -> EntryMetadata {
    EntryMetadata(
      storedAt: Timestamp(milliseconds: 1_000), freshUntil: Timestamp(milliseconds: 2_000),
      retainUntil: Timestamp(milliseconds: retainUntil), contentType: "application/json",
      attributes: attributes, payloadChecksum: 5, checksum: checksum)
  }
}

extension StorageEngine {
  func put(_ key: String, _ payload: [UInt8] = [1, 2, 3], _ metadata: EntryMetadata = .sample()) async throws {
    var batch = WriteBatch()
    batch.put(try CacheKey(key), payload: payload, metadata: metadata)
    try await apply(batch)
  }

  func remove(_ key: String) async throws {
    var batch = WriteBatch()
    batch.remove(try CacheKey(key))
    try await apply(batch)
  }

  func payload(_ key: String) async throws -> [UInt8]? {
    try await read(CacheKey(key)) { bytes, _ in bytes.withUnsafeBufferPointer { Array($0) } }
  }

  /// All keys with a prefix, gathered with scans of `step` entries, ascending.
  func keys(prefix: String = "", step: Int = 1_000, descending: Bool = false) async throws -> [String] {
    var keys: [String] = []
    var request = ScanRequest(prefix: prefix, limit: step, isDescending: descending)
    while true {
      let page = try await scan(request)
      keys += page.entries.map(\.key.text)
      guard let next = page.next else { return descending ? keys.reversed() : keys }
      request.position = next
    }
  }
}

/// The code of the error that `body` throws; `nil` if it throws none.
func code(_ body: () async throws -> Void) async -> CacheError.Code? {
  do {
    try await body()
    return nil
  } catch {
    return (error as? CacheError)?.code
  }
}
