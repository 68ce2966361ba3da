import ChildProcesses
import CSQLite
import Foundation
import CacheBase
import EngineAPI
import Testing

@testable import SQLiteStorage

/// A folder of one test's own, removed with everything in it when the test lets it go.
final class TestFolder {
  let path: String

  /// - Parameter inMemory: whether it should be in memory if possible, for tests that wait for the disk thousands of
  ///   times.
  init(inMemory: Bool = false) throws {
    let isInMemory = inMemory && FileManager.default.isWritableFile(atPath: "/dev/shm")
    path = (isInMemory ? "/dev/shm/" : NSTemporaryDirectory()) + "sqlite-tests-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  var store: String { path + "/cache.sqlite" }

  /// The configuration of the engine: `cache.sqlite` in this directory, or another path.
  func configuration(
    at path: String? = nil, durability: Durability = .normal, busyTimeout: Int64 = 0, now: Int64 = 0
  ) throws -> EngineConfiguration {
    let values: [String: OptionValue] = [
      "path": .text(path ?? store), "durability": .text(durability.rawValue), "busyTimeout": .integer(busyTimeout),
    ]
    return try EngineConfiguration(
      for: SQLitePlugin().declaration, values: values, clock: FixedClock(now: Timestamp(milliseconds: now)))
  }

  func options(durability: Durability = .normal, busyTimeout: Int64 = 0) throws -> SQLiteOptions {
    try SQLiteOptions(configuration(durability: durability, busyTimeout: busyTimeout))
  }

  func open(
    at path: String? = nil, durability: Durability = .normal, busyTimeout: Int64 = 0, now: Int64 = 0
  ) async throws -> any StorageEngine {
    try await SQLitePlugin().open(
      configuration(at: path, durability: durability, busyTimeout: busyTimeout, now: now))
  }

  /// The output of the shell `sqlite3` for `sql`, both its streams together.
  func shell(_ sql: String, on path: String? = nil) throws -> String {
    let process = try FinishedProcess(running: ["sqlite3", path ?? store, sql])
    return (process.output + process.errors).trimmingCharacters(in: .newlines)
  }

  func permissions(of path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }
}

struct FixedClock: WallClock {
  let now: Timestamp
}

/// Another program's plain connection to a database.
final class OtherConnection {
  private var handle: OpaquePointer?

  init(_ path: String) throws {
    try #require(sqlite3_open(path, &handle) == SQLITE_OK)
  }

  deinit { sqlite3_close(handle) }

  func execute(_ sql: String) throws {
    let code = sqlite3_exec(handle, sql, nil, nil, nil)
    try #require(code == SQLITE_OK, "\(sql): \(String(cString: sqlite3_errmsg(handle)))")
  }
}

extension EntryMetadata {
  static func sample(
    retainUntil: Int64 = 3_000, contentType: String = "application/json", attributes: [String: String] = [:],
    payloadChecksum: UInt64 = 6, checksum: UInt64 = 7
  ) -> EntryMetadata {
    EntryMetadata(
      storedAt: Timestamp(milliseconds: 1_000), freshUntil: Timestamp(milliseconds: 2_000),
      retainUntil: Timestamp(milliseconds: retainUntil), contentType: contentType, attributes: attributes,
      payloadChecksum: payloadChecksum, checksum: checksum)
  }
}

extension StorageEngine {
  func put(_ key: String, _ payload: [UInt8], _ metadata: EntryMetadata = .sample()) async throws {
    var batch = WriteBatch()
    batch.put(try CacheKey(key), payload: payload, metadata: metadata)
    try await apply(batch)
  }

  /// The keys of the first entries.
  func keys(limit: Int = 100_000) async throws -> [String] {
    try await scan(ScanRequest(limit: limit)).entries.map(\.key.text)
  }

  func payload(_ key: String) async throws -> [UInt8]? {
    try await read(CacheKey(key)) { bytes, _ in bytes.withUnsafeBufferPointer { Array($0) } }
  }

  func metadata(_ key: String) async throws -> EntryMetadata? {
    try await read(CacheKey(key)) { _, metadata in metadata }
  }
}

/// The code of the `CacheError` that `body` throws.
func code(_ body: () async throws -> Void) async throws -> CacheError.Code? {
  let error = await #expect(throws: CacheError.self) { try await body() }
  if let error { #expect(!error.message.isEmpty && !error.message.contains("\n") && !error.message.hasSuffix(".")) }
  return error?.code
}

/// Calls `body` as a user whom the permissions of files bind: they mean nothing to the superuser. Only this thread is
/// another user meanwhile.
func withoutPrivileges<Output>(_ body: () throws -> Output) throws -> Output {
  // The C library's module does not have the function.
  let setUser = unsafeBitCast(try #require(dlsym(nil, "setfsuid")), to: (@convention(c) (UInt32) -> Int32).self)
  guard geteuid() == 0 else { return try body() }
  _ = setUser(65_534)
  defer { _ = setUser(0) }
  return try body()
}
