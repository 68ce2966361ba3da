import Foundation
import EngineAPI
import Testing

@testable import RedisStorage

/// The time of day.
struct SystemClock: WallClock {
  var now: Timestamp { Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000)) }
}

/// How long an engine waits unless a test is about waiting, in milliseconds: longer than a server takes on any machine.
let patience: Int64 = 600_000

/// The options of a patient engine at `url`. `values` override them.
func patient(_ url: String, _ values: [String: OptionValue] = [:]) -> [String: OptionValue] {
  ["url": .text(url), "timeout": .integer(patience), "connectTimeout": .integer(patience)].merging(values) { $1 }
}

/// Returns the result of `body`. It tries again if an engine that waits only briefly gives up on a busy server.
func patiently<Output>(_ body: () async throws -> Output) async throws -> Output {
  var output: Output?
  try await until("the server answers in time") {
    do {
      output = try await body()
      return true
    } catch let error as CacheError where error.code == .unreachable {
      return false
    }
  }
  return try #require(output)
}

extension StoragePlugin {
  /// Opens the store at `url` with further options.
  func open(_ url: String, _ values: [String: OptionValue] = [:]) async throws -> any StorageEngine {
    let values = patient(url, values)
    return try await open(try EngineConfiguration(for: declaration, values: values, clock: SystemClock()))
  }
}

extension StoragePlugin {
  /// Removes a store.
  func removeStore(_ configuration: EngineConfiguration) async throws {
    #expect(try await removeStore(configuration, movingAside: nil) == [])
  }
}

extension StorageEngine {
  /// The payload under `key` as text; `nil` if there is none.
  func text(_ key: String) async throws -> String? {
    try await read(try CacheKey(key)) { bytes, _ throws(CacheError) in
      bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    }
  }

  func put(_ key: String, _ text: String, _ metadata: EntryMetadata = .sample()) async throws {
    var batch = WriteBatch()
    batch.put(try CacheKey(key), payload: Array(text.utf8), metadata: metadata)
    try await apply(batch)
  }

  /// The keys of all entries.
  func keys() async throws -> [String] {
    var keys: [String] = []
    var request = ScanRequest()
    repeat {
      let page = try await scan(request)
      keys += page.entries.map(\.key.text)
      request.position = page.next
    } while request.position != nil
    return keys
  }
}

extension EntryMetadata {
  /// Ordinary metadata, retained until `retainUntil` or for an hour. It stays fresh for longer than a test takes on a
  /// slow machine, because a stale local copy is not served.
  static func sample(checksum: UInt64 = 1, retainUntil: Timestamp? = nil) -> EntryMetadata {
    let now = SystemClock().now
    return EntryMetadata(
      storedAt: now, freshUntil: now.advanced(by: .seconds(1_800)),
      retainUntil: retainUntil ?? now.advanced(by: .seconds(3_600)), contentType: "application/json",
      attributes: ["etag": "\"\(checksum)\""], checksum: checksum)
  }
}

/// The code of the error that `body` throws; `nil` if it throws none of the storage boundary.
func code(_ body: () async throws -> Void) async -> CacheError.Code? {
  do {
    try await body()
    return nil
  } catch {
    return (error as? CacheError)?.code
  }
}

/// The options of an engine at `url`, for tests of parts below the engine.
func options(_ url: String, _ values: [String: OptionValue] = [:]) throws -> RedisOptions {
  let declaration = RedisPlugin().declaration
  return try RedisOptions(
    try EngineConfiguration(for: declaration, values: patient(url, values), clock: SystemClock()))
}

/// Files that the build puts next to the tests.
enum BuiltProducts {
  /// The path of the program called `name`.
  static func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

  private static var folder: URL {
    // The test bundle is the first argument that SwiftPM gives to the runner of tests, or the runner itself.
    let arguments = CommandLine.arguments
    let bundle = arguments.first { $0.hasSuffix(".xctest") } ?? arguments[0]
    return URL(fileURLWithPath: bundle).resolvingSymlinksInPath().deletingLastPathComponent()
  }
}
