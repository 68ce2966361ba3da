import Foundation
import LibraryStorage
import EngineConformance
import EngineAPI

/// A folder of one test's own, removed with all that is in it.
final class ScratchFolder: Sendable {
  let path: String
  private let clock = ManualClock(Timestamp(milliseconds: 1_700_000_000_000))

  init() throws {
    path = FileManager.default.temporaryDirectory.appending(path: "examples-tests-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// Opens the example's store at `path`.
  func open(_ path: String) async throws -> any StorageEngine {
    let plugin = try BuiltExample.plugin.get()
    let configuration = try EngineConfiguration(
      for: plugin.declaration, values: ["path": .text(path)], clock: clock)
    return try await plugin.open(configuration)
  }

  /// Stores three bytes under `key`.
  func put(_ key: String, in engine: any StorageEngine) async throws {
    var batch = WriteBatch()
    let end = clock.now.advanced(by: .seconds(60))
    batch.put(
      try CacheKey(key), payload: [1, 2, 3],
      metadata: EntryMetadata(storedAt: clock.now, freshUntil: end, retainUntil: end, contentType: "text/plain"))
    try await engine.apply(batch)
  }
}
