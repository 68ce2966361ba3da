import EngineAPI
import Foundation

@testable import PlistStorage

/// A folder of a test's own, removed with its last reference.
final class TemporaryFolder: Sendable {
  let path = NSTemporaryDirectory() + "plist-" + UUID().uuidString
  /// The folder of the store, which is not there yet.
  var store: String { path + "/store" }

  init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func open(
    _ durability: Durability = .normal, _ system: FaultySystem = FaultySystem(), at time: Int64 = 0
  ) async throws(CacheError) -> PlistEngine {
    try await PlistEngine.open(
      PlistOptions(path: store, durability: durability), clock: FixedClock(now: Timestamp(milliseconds: time)),
      system: system.calls)
  }

  func file(_ name: String) -> String { store + "/" + name }

  func bytes(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: file(name)))) }

  func text(_ name: String) throws -> String { String(decoding: try bytes(name), as: UTF8.self) }

  func write(_ bytes: [UInt8], to name: String) throws { try Data(bytes).write(to: URL(fileURLWithPath: file(name))) }

  func write(_ text: String, to name: String) throws { try write(Array(text.utf8), to: name) }

  func makeFolder(_ name: String) throws {
    try FileManager.default.createDirectory(atPath: file(name), withIntermediateDirectories: false)
  }

  /// The names of the files of the store without its mark, in order.
  func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: store).filter { $0 != "store.uses" }.sorted()
  }
}

struct FixedClock: WallClock {
  let now: Timestamp
}

extension EntryMetadata {
  static func sample(_ checksum: UInt64 = 0, retainUntil: Int64 = 3_000_000) -> EntryMetadata {
    EntryMetadata(
      storedAt: Timestamp(milliseconds: 1_001), freshUntil: Timestamp(milliseconds: 2_000_002),
      retainUntil: Timestamp(milliseconds: retainUntil), contentType: "text/plain",
      attributes: ["etag": "\"x\"", "naïve": "\n"], payloadChecksum: ~checksum, checksum: checksum)
  }
}

extension PlistEngine {
  func put(_ contents: [String: String]) async throws {
    var batch = WriteBatch()
    for (key, text) in contents { batch.put(try CacheKey(key), payload: Array(text.utf8), metadata: .sample()) }
    try await apply(batch)
  }

  func put(_ key: CacheKey, _ entry: EntryTable.Entry) async throws {
    var batch = WriteBatch()
    batch.put(key, payload: entry.payload, metadata: entry.metadata)
    try await apply(batch)
  }

  func entry(_ key: CacheKey) async throws -> EntryTable.Entry? {
    try await read(key) { bytes, metadata in
      EntryTable.Entry(payload: bytes.indices.map { bytes[$0] }, metadata: metadata)
    }
  }

  func remove(_ keys: String...) async throws {
    var batch = WriteBatch()
    for key in keys { batch.remove(try CacheKey(key)) }
    try await apply(batch)
  }

  func text(_ key: String) async throws -> String? {
    try await read(try CacheKey(key)) { bytes, _ in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
  }

  /// All payloads by key.
  func contents() async throws -> [String: String] {
    var contents: [String: String] = [:]
    for entry in try await scan(ScanRequest(limit: 100_000)).entries {
      contents[entry.key.text] = try await text(entry.key.text)
    }
    return contents
  }
}

/// The code of the error that `body` throws; `nil` if it throws none.
func code(of body: () async throws -> Void) async -> CacheError.Code? {
  do {
    try await body()
    return nil
  } catch {
    return (error as? CacheError)?.code
  }
}
