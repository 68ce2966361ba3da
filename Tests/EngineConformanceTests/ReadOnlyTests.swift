import EngineAPI
import Foundation
import EngineConformance
import TestStorage
import Testing

/// Opens engines that read through the layer `readonly`, and write past it.
private struct WritesPastLayer: EngineLayer {
  let base: any StoragePlugin

  func wrap(_ engine: any StorageEngine) -> any StorageEngine {
    WritesPastEngine(base: ReadOnlyLayer(over: base).wrap(engine), inside: engine)
  }
}

private final class WritesPastEngine: WrappingEngine {
  let base: any StorageEngine
  private let inside: any StorageEngine

  init(base: any StorageEngine, inside: any StorageEngine) { (self.base, self.inside) = (base, inside) }

  func apply(_ batch: WriteBatch) async throws(CacheError) { try await inside.apply(batch) }
  func compact() async throws(CacheError) { try await inside.compact() }
}

@Suite("The layer readonly")
struct ReadOnlyTests {
  private static let engines = TestedEngines.all.map { $0.declaration.name }

  @Test("It reads what the engine inside does", arguments: ConformanceSuite.checks.map(\.name))
  func readsAll(_ check: String) async throws {
    let check = try #require(ConformanceSuite.check(named: check))
    let report = try await run(WritesPastLayer(base: RegistryPlugin()), only: [check])
    #expect(report.failures.isEmpty, "\(report.outcomes)")
  }

  @Test("It refuses every change, and nothing is lost", arguments: engines)
  func refusesChanges(_ name: String) async throws {
    try await withStore(name) { plugin, configuration in
      let engine = try await plugin.open(configuration)
      var batch = WriteBatch()
      for number in 0..<3 {
        batch.put(
          try CacheKey("cities/v1/page=\(number)"), payload: Array("page \(number)".utf8),
          metadata: EntryMetadata(
            storedAt: Timestamp(milliseconds: 1), freshUntil: Timestamp(milliseconds: 2),
            retainUntil: Timestamp(milliseconds: 3), contentType: "text/plain"))
      }
      try await engine.apply(batch)
      let contents = try await Contents(of: engine)
      let layer = ReadOnlyLayer(over: plugin)
      let readOnly = layer.wrap(engine)
      #expect(try await Contents(of: readOnly) == contents)
      var removal = WriteBatch()
      removal.remove(contents.entries[0].key)
      #expect(await errorCode { try await readOnly.apply(batch) } == .permissionDenied)
      #expect(await errorCode { try await readOnly.apply(removal) } == .permissionDenied)
      #expect(await errorCode { try await readOnly.compact() } == .permissionDenied)
      #expect(try await Contents(of: engine) == contents)
      try await readOnly.close()
      #expect(await errorCode { _ = try await engine.count() } == .closed)
      for suffix in [nil, ".x"] {
        #expect(
          await errorCode { _ = try await layer.removeStore(configuration, movingAside: suffix) } == .permissionDenied)
      }
      guard plugin.declaration.capabilities.contains(.persistent) else { return }
      let again = try await layer.open(configuration)
      #expect(try await Contents(of: again) == contents)
      try await again.close()
    }
  }

  @Test("It does not create a store", arguments: ["plist", "sqlite", "lmdb"])
  func createsNothing(_ name: String) async throws {
    try await withStore(name) { plugin, configuration in
      let error = await #expect(throws: CacheError.self) {
        try await ReadOnlyLayer(over: plugin).open(configuration)
      }
      #expect(error?.code == .permissionDenied)
      let found = try await plugin.inspect(configuration)
      #expect(!found.exists)
    }
  }

  @Test func itIsDeclared() {
    let (plugin, layer) = (RegistryPlugin(), ReadOnlyLayer(over: RegistryPlugin()))
    let inner = plugin.declaration.capabilities
    #expect(layer.declaration.capabilities == inner.union([.readOnly]))
    #expect(layer.declaration.name == plugin.declaration.name)
  }

  private func withStore(
    _ name: String, _ body: (any StoragePlugin, EngineConfiguration) async throws -> Void
  ) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("readonly-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let plugin = try #require(TestedEngines.all.first { $0.declaration.name == name })
    let hasPath = plugin.declaration.options.contains { $0.kind == .path }
    let configuration = try EngineConfiguration(
      for: plugin.declaration, values: hasPath ? ["path": .text(folder.path + "/store")] : [:],
      clock: ManualClock(Timestamp(milliseconds: 2)))
    try await body(plugin, configuration)
  }
}

/// Everything that an engine says of its store.
private struct Contents: Equatable {
  let entries: [ScannedEntry]
  let count: StoreCount
  let issues: [IntegrityIssue]

  init(of engine: any StorageEngine) async throws {
    entries = try await engine.scan(ScanRequest(includesPayloads: true)).entries
    count = StoreCount(namespaces: try await engine.count().namespaces)
    issues = try await engine.check()
  }
}
