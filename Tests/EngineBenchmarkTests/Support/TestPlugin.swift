import EngineAPI
import EngineBenchmark
import Synchronization
import TestStorage

/// An engine for tests of the harness: it keeps its stores by path as long as the plugin lives, and lies on demand.
final class TestPlugin: StoragePlugin {
  /// A way to lie or to fail.
  enum Fault: String, Sendable, CaseIterable {
    case none, wrongBytes, truncated, lost, stale, wrongMetadata, wrongPayloadChecksum, lostWrite, shortScan
    case unorderedScan, inventedInScan, wrongCount, failsToRead, failsToOpen, claimsCancellation
  }

  let declaration: EngineDeclaration
  let log = CallLog()
  /// The keys that were read.
  let reads = CallLog()
  private let fault: Fault
  /// The number of the first read at which the engine lies.
  private let firstLie: Int
  private let registry = StoreRegistry()
  /// The entry under each key before the last batch.
  private let before = Mutex<[CacheKey: EntryTable.Entry]>([:])

  /// - Parameter isNamed: whether a store is known by a name, as on a server, and not by a path.
  init(
    _ name: String = "test", fault: Fault = .none, firstLie: Int = 1,
    capabilities: Set<EngineCapability> = [.ordered, .bounded],
    isNamed: Bool = false
  ) {
    declaration = EngineDeclaration(
      name: name, version: "2.5", summary: "an engine for tests",
      capabilities: capabilities.union([.persistent, .atomicBatches]),
      options: [EngineOption("path", isNamed ? .storeName : .path, help: "the store", isRequired: true), .durability])
    (self.fault, self.firstLie) = (fault, firstLie)
  }

  /// The keys in each store.
  var keys: [String: [String]] { registry.all.mapValues { $0.table.entries.keys.map(\.text).sorted() } }

  func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
    if fault == .failsToOpen { throw CacheError(.unreachable, "the server is away") }
    let path = try configuration.text("path")
    log.add("\(declaration.name) open \(try configuration.durability().rawValue) \(path)")
    try registry.withStore(path) { _ in }
    return FaultyEngine(
      over: RegistryEngine(registry: registry, path: path, clock: configuration.clock), faults(in: path))
  }

  private func faults(in path: String) -> Faults {
    var faults = Faults()
    faults.before = { [self] call, _ throws(CacheError) in
      switch call {
      case .read(let key): reads.add(key.text)
      case .apply: before.withLock { $0 = registry.all[path]?.table.entries ?? [:] }
      default: break
      }
    }
    faults.after = { [self] call, base throws(CacheError) in
      if case .close = call { log.add("\(declaration.name) close") }
      guard fault == .lostWrite, case .apply(let batch) = call, case .put(let key, _, _)? = batch.operations.last else {
        return
      }
      var removal = WriteBatch()
      removal.remove(key)
      try await base.apply(removal)
    }
    faults.entry = { [self] key, entry throws(CacheError) in
      reads.all.count >= firstLie ? try lie(about: entry, under: key) : entry
    }
    faults.page = { [fault] page, _ in
      var page = page
      switch fault {
      case .shortScan where page.entries.count > 2: page.entries.remove(at: 1)
      case .unorderedScan where page.entries.count > 1: page.entries.swapAt(0, 1)
      case .inventedInScan where !page.entries.isEmpty:
        let first = page.entries[0]
        page.entries[0] = ScannedEntry(key: first.key, metadata: first.metadata, payloadBytes: first.payloadBytes + 1)
      default: break
      }
      return page
    }
    faults.count = { [fault] in
      StoreCount(namespaces: fault == .wrongCount ? [:] : $0.namespaces, storageBytes: 4_096)
    }
    return faults
  }

  private func lie(about entry: EntryTable.Entry, under key: CacheKey) throws(CacheError) -> EntryTable.Entry? {
    var (payload, metadata) = (entry.payload, entry.metadata)
    switch fault {
    case .failsToRead: throw CacheError(.ioFailed, "the disk is gone")
    case .claimsCancellation: throw CacheError(.cancelled, "the task was cancelled")
    case .lost: return nil
    case .stale: return before.withLock { $0[key] } ?? entry
    case .wrongBytes: if !payload.isEmpty { payload[payload.count / 2] ^= 1 }
    case .truncated: if !payload.isEmpty { payload.removeLast() }
    case .wrongMetadata: metadata.retainUntil = metadata.retainUntil.advanced(by: .milliseconds(1))
    case .wrongPayloadChecksum: metadata.payloadChecksum ^= 1
    default: break
    }
    return EntryTable.Entry(payload: payload, metadata: metadata)
  }
}

/// The calls, in order.
final class CallLog: Sendable {
  private let lines = Mutex<[String]>([])
  var all: [String] { lines.withLock { $0 } }
  func add(_ line: String) { lines.withLock { $0.append(line) } }
}
