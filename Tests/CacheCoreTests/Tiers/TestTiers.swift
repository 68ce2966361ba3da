import EngineAPI
import EngineConformance
import Synchronization
import TestStorage

@testable import CacheCore

/// A local and a remote store in memory that outlive the engines over them, at second 1,000. The remote one fails and follows
/// changes as a test says.
final class TestTiers: Sendable {
  let clock = ManualClock(Timestamp(milliseconds: 1_000_000))
  /// The store that all machines share.
  let remote = RegistryPlugin()
  /// The store on this machine.
  let local = RegistryPlugin()
  /// How the remote engine misbehaves.
  private let faults = Mutex(Faults())
  /// The marks of the remote engine; `nil` while it cannot tell changes.
  private let mark = Mutex<ChangeMark?>(nil)
  private let remoteEngines = Mutex<[FaultyEngine]>([])
  private let localEngines = Mutex<[FaultyEngine]>([])

  /// A process on this machine: its engine over both stores.
  func open(
    limits: StoreLimits = .standard, localMaxAge: Duration = .seconds(60), isFollowing: Bool = false
  ) async throws(CacheError) -> any StorageEngine {
    let base = TestPlugin(inner: remote, isFollowing: isFollowing) { [self] engine throws(CacheError) in
      if let error = absence.withLock({ $0 }) { throw error }
      let faulty = FaultyEngine(over: engine, faults.withLock { $0 })
      remoteEngines.withLock { $0.append(faulty) }
      return isFollowing ? FollowingEngine(over: faulty) { [self] in mark.withLock { $0 } } : faulty
    }
    let front = TestPlugin(inner: local) { [self] engine throws(CacheError) in
      let faulty = FaultyEngine(over: engine)
      localEngines.withLock { $0.append(faulty) }
      return faulty
    }
    let layer = TieredLayer(
      over: base, local: StorageLocation(front, ["path": .text("/local")]), limits: limits, localMaxAge: localMaxAge)
    return try await layer.open(try EngineConfiguration(for: base.declaration, clock: clock))
  }

  /// Why the remote store is away.
  private let absence = Mutex<CacheError?>(nil)

  /// Takes the remote store away, and brings it back.
  func setAway(_ isAway: Bool, _ code: CacheError.Code = .unreachable) {
    let error = isAway ? CacheError(code, "the server is away") : nil
    absence.withLock { $0 = error }
    faults.withLock { faults in
      faults.before = { call, _ throws(CacheError) in
        if case .close = call { return }
        if let error { throw error }
      }
    }
    for engine in remoteEngines.withLock({ $0 }) { engine.faults = faults.withLock { $0 } }
    // An engine that was away may be tried again a second later.
    advance(by: .seconds(2))
  }

  /// The remote and the local engine as the first process has opened them.
  var firstRemote: FaultyEngine? { remoteEngines.withLock(\.first) }
  var firstLocal: FaultyEngine? { localEngines.withLock(\.first) }

  /// Makes the remote engine say that for its changes; `nil` for nothing.
  func say(_ number: UInt64?) { mark.withLock { $0 = number.map { ChangeMark(number: $0, age: .zero) } } }

  /// Moves the clock.
  func advance(by duration: Duration) { clock.advance(by: duration) }

  /// The number of reads that reached the remote engine.
  var remoteReads: Int { remoteEngines.withLock { $0.reduce(0) { $0 + $1.reads } } }

  /// Another machine's engine over the remote store.
  func other() async throws(CacheError) -> any StorageEngine {
    try await remote.open(try EngineConfiguration(for: remote.declaration, clock: clock))
  }

  /// An engine over the local store alone, as another process on this machine has it.
  func localAlone() async throws(CacheError) -> any StorageEngine {
    let location = StorageLocation(local, ["path": .text("/local")])
    return try await location.open(clock: clock)
  }
}

/// Opens what `wrap` makes of the engines of `inner`, which tells nothing of its changes, or follows them.
struct TestPlugin: StoragePlugin {
  let inner: RegistryPlugin
  var isFollowing = false
  let wrap: @Sendable (any StorageEngine) throws(CacheError) -> any StorageEngine

  var declaration: EngineDeclaration {
    let capabilities = inner.declaration.capabilities.subtracting([.countsChanges])
    return inner.declaration.with(isFollowing ? capabilities.union([.followsChanges]) : capabilities)
  }

  func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
    try wrap(try await inner.open(configuration))
  }

  func inspect(_ configuration: EngineConfiguration) async throws(CacheError) -> StoreInspection {
    let path = try configuration.text("path")
    return StoreInspection(path: path, exists: inner.registry.all[path] != nil, files: [], format: 1, currentFormat: 1)
  }

  func removeStore(
    _ configuration: EngineConfiguration, movingAside suffix: String?
  ) async throws(CacheError) -> [String] {
    try inner.registry.withStore(try configuration.text("path")) { $0.table = EntryTable() }
    return []
  }
}

extension StorageEngine {
  /// The text under `key`.
  func text(_ key: String) async throws -> String? {
    try await read(try CacheKey(key)) { bytes, _ in
      bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    }
  }

  /// Stores `text` under `key`, with the right checksum; fresh for ten minutes after `storedAt`, in seconds.
  func store(
    _ text: String, _ key: String = "cities/a", at storedAt: Int64 = 1_000, expecting: WriteBatch.Expectation? = nil
  ) async throws {
    var batch = WriteBatch()
    let key = try CacheKey(key)
    if let expecting { batch.require(key, expecting) }
    batch.put(key, payload: Array(text.utf8), metadata: .test(text, storedAt))
    try await apply(batch)
  }

  /// Gives the entry under `key` with the text `text` other times.
  func renew(_ text: String, _ key: String = "cities/a", at storedAt: Int64) async throws {
    var (batch, metadata) = (WriteBatch(), EntryMetadata.test(text, storedAt))
    metadata.checksum = .test("\(text) at \(storedAt)")
    batch.update(try CacheKey(key), metadata: metadata, from: .test(text))
    try await apply(batch)
  }

  /// Removes the entry under `key`.
  func remove(_ key: String) async throws {
    var batch = WriteBatch()
    batch.remove(try CacheKey(key))
    try await apply(batch)
  }

  /// The warning about the two stores.
  var warning: CacheError? { tiered?.tierWarning }
}

extension EntryMetadata {
  fileprivate static func test(_ text: String, _ storedAt: Int64) -> EntryMetadata {
    EntryMetadata(
      storedAt: Timestamp(milliseconds: storedAt * 1_000),
      freshUntil: Timestamp(milliseconds: (storedAt + 600) * 1_000),
      retainUntil: Timestamp(milliseconds: (storedAt + 6_000) * 1_000), contentType: "text/plain",
      attributes: ["etag": text], checksum: .test(text))
  }
}

extension UInt64 {
  /// The checksum of the entry with that text.
  static func test(_ text: String) -> UInt64 { text.utf8.reduce(1) { $0 &* 31 &+ UInt64($1) } }
}
