import EngineAPI
import Synchronization
import TestStorage

/// The one plugin of these tests: a table in memory, and calls that go as an option says.
struct ScriptedPlugin: StoragePlugin {
  /// How calls go.
  enum Manner: String, CaseIterable {
    /// They return at once.
    case atOnce
    /// They go from thread to thread first.
    case waiting
    /// They fail with `failure`.
    case failing
  }

  /// The error of calls that fail.
  static let failure = Mutex(CacheError(.failed, "not set"))

  let declaration = EngineDeclaration(
    name: "scripted", version: "1.2", summary: "a table for tests",
    capabilities: [.atomicBatches, .countsChanges, .followsChanges, .ordered, .shared],
    options: [
      EngineOption("manner", .choice(Manner.allCases.map(\.rawValue)), default: .text("atOnce"), help: "how calls go"),
      EngineOption("path", .path, help: "a path", isRequired: true),
      EngineOption("password", .text, default: .text("ünset"), help: "a secret", isSecret: true),
      EngineOption("entries", .integer(-3...7), default: .integer(-1), help: "a number"),
      EngineOption("room", .size(1...1_048_576), default: .integer(4_096), help: "a size"),
      EngineOption("patience", .duration(0...60_000), default: .integer(5_000), help: "a duration"),
      EngineOption("eager", .boolean, default: .boolean(true), help: "yes or no"),
      EngineOption("store", .storeName, default: .text("main"), help: "a store"),
    ])

  func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
    guard let manner = Manner(rawValue: try configuration.text("manner")) else { throw CacheError(.failed, "manner") }
    guard try configuration.boolean("eager"), try configuration.integer("room") == 4_096 else {
      throw CacheError(.invalidOption, "what is passed is not what arrives")
    }
    let store = RegistryEngine(clock: configuration.clock)
    let engine = FaultyEngine(over: store, Self.faults(manner))
    return try configuration.integer("entries") == 7 ? engine : ImmediateEngine(base: engine, store, manner)
  }

  private static func faults(_ manner: Manner) -> Faults {
    let executor = BlockingExecutor()
    var faults = Faults()
    faults.before = { call, _ throws(CacheError) in
      switch manner {
      case .atOnce: return
      case .waiting:
        await Task.yield()
        try await executor.run { () throws(CacheError) in }
      case .failing: throw failure.withLock { $0 }
      }
    }
    faults.count = { StoreCount(namespaces: $0.namespaces, storageBytes: 77) }
    faults.changeCount = { $0 }
    faults.issues = { _ in [IntegrityIssue(kind: .structure, message: "crooked")] }
    return faults
  }

  func inspect(_ configuration: EngineConfiguration) async throws(CacheError) -> StoreInspection {
    await Task.yield()
    return StoreInspection(
      path: try configuration.text("path"), files: ["/a", "", "/ünder/c"], format: nil, currentFormat: 3)
  }

  func removeStore(
    _ configuration: EngineConfiguration, movingAside suffix: String?
  ) async throws(CacheError) -> [String] {
    await Task.yield()
    let path = try configuration.text("path")
    guard let suffix else { throw CacheError(.busy, "\(path) is open") }
    return [path + suffix, path + suffix + "-log"]
  }
}

/// The same with reads at once.
final class ImmediateEngine: WrappingEngine {
  let base: any StorageEngine
  private let store: RegistryEngine
  private let manner: ScriptedPlugin.Manner

  init(base: any StorageEngine, _ store: RegistryEngine, _ manner: ScriptedPlugin.Manner) {
    (self.base, self.store, self.manner) = (base, store, manner)
  }

  func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? { throw CacheError(.failed, "a read that may wait") }

  func readNow(
    _ key: Span<UInt8>, _ body: (Span<UInt8>, EntryMetadata) throws(CacheError) -> Void
  ) throws(CacheError) -> Bool? {
    if manner == .failing { throw ScriptedPlugin.failure.withLock { $0 } }
    let key = CacheKey(trusting: key)
    guard let entry = try store.withStore({ $0.table[key] }) else { return false }
    try body(entry.payload.span, entry.metadata)
    return true
  }
}
