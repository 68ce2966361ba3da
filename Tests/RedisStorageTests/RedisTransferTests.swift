import LMDBStorage
import SQLiteStorage
import EngineConformance
import EngineAPI
import Testing

import struct Foundation.UUID
import class Foundation.FileManager

@testable import RedisStorage
@testable import CacheCore

/// Every entry from every engine that keeps any to every other one, as `migrate` does it.
@Suite("Stores are moved between Redis and the other engines", .serialized)
struct RedisTransferTests {
  private static let plugins: [any StoragePlugin] = [
    SQLitePlugin(), LMDBPlugin(), RedisPlugin(), RedisPlugin(),
  ]
  /// The index of the engine that is on the cluster.
  private static let cluster = 3
  /// The tests of the engines cover pairs without a server on either side.
  private static let pairs = plugins.indices.flatMap { from in
    plugins.indices.filter { $0 != from && max(from, $0) > 1 }.map { (from, $0) }
  }
  private static let server = Result { try RedisServer() }

  private func configuration(
    _ index: Int, _ folder: String, _ name: String
  ) throws -> EngineConfiguration {
    let values: [String: OptionValue] =
      switch index {
      case Self.cluster: patient(try RedisCluster.shared.get().url, ["prefix": .text(name)])
      case 2: patient(try Self.server.get().url, ["prefix": .text(name)])
      default: ["path": .text("\(folder)/\(name)")]
      }
    return try EngineConfiguration(for: Self.plugins[index].declaration, values: values, clock: SystemClock())
  }

  @Test(arguments: pairs)
  func arrives(_ from: Int, _ to: Int) async throws {
    let (source, target) = (Self.plugins[from], Self.plugins[to])
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("transfer-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let name = "transfer-\(from)-\(to)-" + String(UInt32.random(in: 0 ... .max), radix: 16)
    let here = try configuration(from, folder, "\(name)-source")
    let there = try configuration(to, folder, "\(name)-target")
    #expect(try await source.inspect(here).exists == false)
    let first = try await source.open(here)
    for number in 0..<50 {
      let (key, payload) = (try CacheKey("cities/v1/page=\(number)"), Array("{\"page\":\(number)}".utf8))
      var (metadata, batch) = (EntryMetadata.sample(), WriteBatch())
      metadata.setChecksums(key: key, payload: payload.span)
      batch.put(key, payload: payload, metadata: metadata)
      try await first.apply(batch)
    }
    #expect(try await source.inspect(here).exists)
    #expect(try await target.inspect(there).exists == false)
    let second = try await target.open(there)
    let old = EntryStore(engine: first, clock: SystemClock(), capabilities: source.declaration.capabilities)
    let new = EntryStore(engine: second, clock: SystemClock(), capabilities: target.declaration.capabilities)
    let report = try await old.migrate(to: new, TransferOptions()) { _, _, _ in }
    #expect(report.written == 50 && report.verified == 50)
    #expect(try await target.inspect(there).exists)
    let again = try await old.migrate(to: new, TransferOptions(isDryRun: true)) { _, _, _ in }
    #expect(again.written == 0, "entries that exist already are not copied")
    for engine in [first, second] { try await engine.close() }
  }
}
