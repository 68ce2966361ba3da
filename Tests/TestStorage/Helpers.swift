package import EngineAPI
internal import Foundation

/// The code of the error that `body` throws; `nil` if it throws none.
package func errorCode<Value>(_ body: () async throws -> Value) async -> CacheError.Code? {
  do {
    _ = try await body()
    return nil
  } catch { return (error as? CacheError)?.code ?? CacheError.Code(rawValue: "\(error)") }
}

extension EntryMetadata {
  /// Metadata of a text that is fresh, and kept, until `end`.
  package init(storedAt: Timestamp, until end: Timestamp = .distantFuture, checksum: UInt64 = 0) {
    self.init(storedAt: storedAt, freshUntil: end, retainUntil: end, contentType: "text/plain", checksum: checksum)
  }
}

extension StorageEngine {
  /// Stores one entry, past the core.
  package func put(_ key: CacheKey, _ payload: [UInt8], _ metadata: EntryMetadata) async throws(CacheError) {
    var batch = WriteBatch()
    batch.put(key, payload: payload, metadata: metadata)
    try await apply(batch)
  }

  /// Removes entries, past the core.
  package func remove(_ keys: CacheKey...) async throws(CacheError) {
    var batch = WriteBatch()
    for key in keys { batch.remove(key) }
    try await apply(batch)
  }
}

/// A folder of one test's own, removed with everything in it when the test lets it go.
package final class TestFolder: Sendable {
  package let path = NSTemporaryDirectory() + "cachectl-test-" + UUID().uuidString

  package init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
  deinit { try? FileManager.default.removeItem(atPath: path) }
}

extension StoragePlugin {
  /// The configuration of a store in `folder`, for a test: it outlives a crash of the process and no more, and a writer
  /// may wait long for the others, on a busy machine.
  package func configuration(in folder: TestFolder, clock: any WallClock) throws(CacheError) -> EngineConfiguration {
    var values: [String: OptionValue] = [:]
    for option in declaration.options {
      if option.kind == .path { values[option.name] = .text("\(folder.path)/\(declaration.name)") }
      if option == .busyTimeout { values[option.name] = .integer(3_600_000) }
      if option.name == EngineOption.durability.name { values[option.name] = .text(Durability.relaxed.rawValue) }
    }
    return try EngineConfiguration(for: declaration, values: values, clock: clock)
  }
}
