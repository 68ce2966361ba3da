import EngineSupport
import LMDBStorage
import MemoryStorage
import CacheCore
import SQLiteStorage
import StorageConformance
import StorageSPI
import TestStorage
import Testing

/// Opens each store of `base` behind the layer `tiered`, with a folder of its own for near.
struct TieredPlugin: StoragePlugin {
  let base: any StoragePlugin
  let near: any StoragePlugin
  var nearMaxAge = Duration.seconds(3_600)
  /// Whether far tells of changes at once, so that another handle sees them at once.
  var isExact = false

  var declaration: EngineDeclaration {
    let inner = layer("/").declaration
    return isExact ? inner.with(inner.capabilities.union([.shared])) : inner
  }

  func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
    try await layer(configuration.text("path") + ".near").open(configuration)
  }

  private func layer(_ folder: String) -> TieredLayer {
    TieredLayer(over: base, near: near, folder: folder, nearMaxAge: nearMaxAge)
  }
}

@Suite("The layer tiered keeps the storage contract")
struct TieredConformanceTests {
  /// Far counts its changes in all of them, but for one, where near always asks.
  private static let plugins: [(String, TieredPlugin)] = [
    ("memory over sqlite", TieredPlugin(base: SQLitePlugin(), near: MemoryPlugin(), isExact: true)),
    ("lmdb over registry", TieredPlugin(base: RegistryPlugin(), near: LMDBPlugin(), isExact: true)),
    ("memory over silent sqlite", TieredPlugin(base: SilentLayer(base: SQLitePlugin()), near: MemoryPlugin())),
    (
      "lmdb over silent registry, asked each time",
      TieredPlugin(base: SilentLayer(base: RegistryPlugin()), near: LMDBPlugin(), nearMaxAge: .zero)
    ),
  ]

  struct TieredCase: Sendable, CustomTestStringConvertible {
    let name: String
    let plugin: TieredPlugin
    let check: ConformanceCheck

    var testDescription: String { "\(name): \(check.name)" }
  }

  static let cases = plugins.flatMap { name, plugin in
    ConformanceSuite.checks
      .filter { plugin.declaration.capabilities.isSuperset(of: $0.requiredCapabilities) }
      .map { TieredCase(name: name, plugin: plugin, check: $0) }
  }

  @Test(arguments: cases)
  func keepsContract(_ testCase: TieredCase) async throws {
    let report = try await run(testCase.plugin, only: [testCase.check])
    let outcome = try #require(report.outcomes.first)
    #expect(outcome.result == .passed, "\(testCase.check.summary); seed \(report.seed): \(outcome.message)")
  }

  @Test func whatIsDeclared() {
    let shared = TieredPlugin(base: SQLitePlugin(), near: MemoryPlugin(), nearMaxAge: .zero)
    let late = TieredPlugin(base: SQLitePlugin(), near: MemoryPlugin())
    #expect(shared.declaration.capabilities == SQLitePlugin().declaration.capabilities)
    #expect(late.declaration.capabilities == SQLitePlugin().declaration.capabilities.subtracting([.shared]))
    #expect(late.declaration.name == "sqlite")
  }
}

/// Opens engines that do not say whether anything has changed.
private struct SilentLayer: EngineLayer {
  let base: any StoragePlugin

  var declaration: EngineDeclaration {
    base.declaration.with(base.declaration.capabilities.subtracting([.countsChanges]))
  }

  func wrap(_ engine: any StorageEngine) -> any StorageEngine { SilentEngine(base: engine) }
}

private final class SilentEngine: WrappingEngine {
  let base: any StorageEngine

  init(base: any StorageEngine) { self.base = base }

  func changeCount() throws(CacheError) -> UInt64? { nil }
}
