import CacheCore
import EngineAPI
import LMDBStorage
import MemoryStorage
import PlistStorage
import SQLiteStorage
import EngineConformance
import Foundation
import TestStorage
import Testing

/// Opens each store of `base` behind the layer `tiered`, each with its own local store.
struct TieredPlugin: StoragePlugin {
  let base: any StoragePlugin
  let local: any StoragePlugin
  var localMaxAge = Duration.seconds(3_600)

  var declaration: EngineDeclaration { layer("/local").declaration }

  func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
    try await layer(configuration.text("path") + ".local").open(configuration)
  }

  private func layer(_ path: String) -> TieredLayer {
    let isPersistent = local.declaration.capabilities.contains(.persistent)
    return TieredLayer(
      over: base, local: StorageLocation(local, isPersistent ? ["path": .text(path)] : [:]), localMaxAge: localMaxAge)
  }
}

@Suite("The layer tiered keeps the storage contract")
struct TieredConformanceTests {
  /// The remote engines count their changes, follow them or do neither.
  private static let plugins: [(String, TieredPlugin)] = [
    ("memory over sqlite", TieredPlugin(base: SQLitePlugin(), local: MemoryPlugin())),
    ("lmdb over following registry", TieredPlugin(base: FollowingLayer(over: RegistryPlugin()), local: LMDBPlugin())),
    ("memory over silent registry", TieredPlugin(base: SilentLayer(base: RegistryPlugin()), local: MemoryPlugin())),
    (
      "plist over silent registry, read each time",
      TieredPlugin(base: SilentLayer(base: RegistryPlugin()), local: PlistPlugin(), localMaxAge: .zero)
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
    let folder = NSTemporaryDirectory() + "tiered-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let subject = try ConformanceSubject(plugin: testCase.plugin, scratchFolder: folder)
    let report = await ConformanceSuite.run(subject, only: [testCase.check])
    let outcome = try #require(report.outcomes.first)
    #expect(outcome.result == .passed, "\(testCase.check.summary); seed \(report.seed): \(outcome.message)")
  }

  /// Another handle's commit is seen at once if the remote engine counts changes, or is read each time.
  @Test func declaresTheCapabilitiesOfTheRemoteEngine() {
    let inner = SQLitePlugin().declaration.capabilities
    let following = FollowingLayer(over: SQLitePlugin())
    #expect(TieredPlugin(base: SQLitePlugin(), local: MemoryPlugin()).declaration.capabilities == inner)
    let always = TieredPlugin(base: following, local: MemoryPlugin(), localMaxAge: .zero)
    #expect(always.declaration.capabilities == following.declaration.capabilities)
    let late = TieredPlugin(base: following, local: MemoryPlugin())
    #expect(late.declaration.capabilities == following.declaration.capabilities.subtracting([.shared]))
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
