internal import FetchVocabulary
internal import StorageSPI
internal import Synchronization

/// The near engine of a `TieredEngine`. It may fail: what it cannot answer, far does.
///
/// A store that turns out to be damaged is removed, and filled again by what is read.
final class NearTier: Sendable {
  private struct Opened {
    let engine: any StorageEngine
    let writer: BoundedWriter
  }

  private enum State {
    case open(Opened)
    case failed(CacheError)
    case closed
  }

  private let plugin: any StoragePlugin
  private let configuration: EngineConfiguration
  private let limits: StoreLimits
  private let accesses = AccessRecorder()
  private let state: Mutex<State>
  private let isRebuilding = Atomic(false)

  /// Opens the store of `plugin`, and removes a damaged one first. If that fails, far answers everything.
  init(_ plugin: any StoragePlugin, _ configuration: EngineConfiguration, _ limits: StoreLimits) async {
    (self.plugin, self.configuration, self.limits) = (plugin, configuration, limits)
    state = Mutex(.closed)
    var result = await opened()
    if case .failed(let error) = result, error.isDamage { result = await openedAnew() }
    state.withLock { $0 = result }
  }

  /// Why near cannot be used; `nil` if it can.
  var failure: CacheError? {
    state.withLock { if case .failed(let error) = $0 { error } else { nil } }
  }

  /// What `body` makes of the entry under `key`; `nil` if there is none, or it cannot be read.
  ///
  /// - Throws: `NearRefusal` if the entry is not usable, or `body` fails.
  func read<Output: Sendable>(
    _ key: CacheKey, where isUsable: @Sendable (EntryMetadata) -> Bool,
    _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(NearRefusal) -> Output? {
    guard let engine = current?.engine else { return nil }
    do throws(CacheError) {
      return try await engine.read(key) { bytes, metadata throws(CacheError) in
        guard isUsable(metadata) else { throw NearRefusal.unusable(metadata.checksum).passed }
        do throws(CacheError) { return try body(bytes, metadata) } catch { throw NearRefusal.failed(error).passed }
      }
    } catch {
      if let refusal = error.cause as? NearRefusal { throw refusal }
      await note(error)
      return nil
    }
  }

  /// Records a use of the entry whose key has that digest, by which the limits choose.
  func countUse(_ digest: UInt64, at now: Timestamp) { accesses.record(digest: digest, at: now) }

  /// Stores and removes entries. If there is no room, the least used of the others go. An entry that cannot be stored
  /// is removed.
  func apply(_ changes: TieredChanges) async {
    guard let opened = current, !changes.finals.isEmpty else { return }
    do throws(CacheError) {
      guard changes.payloadBytes <= limits.maxBytes, let key = changes.finals.first?.key else {
        return try await opened.engine.apply(changes.removals)
      }
      try await opened.writer.apply(changes.batch, storing: key, bytes: changes.payloadBytes)
    } catch {
      await note(error)
      try? await current?.engine.apply(changes.removals)
    }
  }

  func statistics() async throws(CacheError) -> StorageStatistics { try await engine().statistics() }

  /// Removes what has expired, and unused space.
  func compact() async { try? await current?.engine.compact() }

  func releaseMemory() async { await current?.engine.releaseMemory() }

  /// Looks for damage, and removes the store if there is some.
  func check() async {
    do throws(CacheError) {
      let issues = try await current?.engine.checkIntegrity() ?? []
      if !issues.isEmpty { await rebuild() }
    } catch {
      await note(error)
    }
  }

  func close() async {
    let last = state.withLock { state in
      defer { state = .closed }
      return state
    }
    if case .open(let opened) = last { try? await opened.engine.close() }
  }

  private var current: Opened? {
    state.withLock { if case .open(let opened) = $0 { opened } else { nil } }
  }

  private func engine() throws(CacheError) -> any StorageEngine {
    try state.withLock { state throws(CacheError) in
      switch state {
      case .open(let opened): return opened.engine
      case .failed(let error): throw error
      case .closed: throw .storeClosed
      }
    }
  }

  private func openedAnew() async -> State {
    do throws(CacheError) {
      _ = try await plugin.removeStore(configuration, movingAside: nil)
      return await opened()
    } catch {
      return .failed(error)
    }
  }

  private func opened() async -> State {
    let engine: any StorageEngine
    do throws(CacheError) {
      if configuration.hasCrashMark {
        _ = try await plugin.removeStore(configuration, movingAside: nil)
        try configuration.removeCrashMark()
      }
      engine = try await plugin.open(configuration)
    } catch {
      return .failed(error)
    }
    let isTidy = plugin.declaration.capabilities.contains(.nativeExpiry)
    let writer = BoundedWriter(
      engine: engine, clock: configuration.clock, limits: limits, operations: OperationCounter(), accesses: accesses,
      sweeps: SweepKeeper(nil), removesExpired: !isTidy)
    return .open(Opened(engine: engine, writer: writer))
  }

  private func note(_ error: CacheError) async {
    if error.isDamage { await rebuild() }
  }

  /// Replaces the store by an empty one. Calls meanwhile find nothing.
  private func rebuild() async {
    guard !isRebuilding.exchange(true, ordering: .acquiringAndReleasing) else { return }
    defer { isRebuilding.store(false, ordering: .releasing) }
    let reason = CacheError(.damaged, "the near store is being rebuilt")
    let last = state.withLock { state -> Opened? in
      guard case .open(let opened) = state else { return nil }
      state = .failed(reason)
      return opened
    }
    guard let last else { return }
    try? await last.engine.close()
    let result = await openedAnew()
    let isClosed = state.withLock { state in
      guard case .closed = state else {
        state = result
        return false
      }
      return true
    }
    if isClosed, case .open(let opened) = result { try? await opened.engine.close() }
  }
}

/// Why near does not answer with an entry that it has. It is thrown, so that an answer needs no wrapping.
enum NearRefusal: Error {
  /// The entry with that checksum is not usable.
  case unusable(UInt64)
  /// The caller's closure failed.
  case failed(CacheError)

  /// The refusal in the only error that passes through an engine.
  fileprivate var passed: CacheError { CacheError(.failed, "near does not answer", cause: self) }
}

/// What a batch leaves of the entries that near may hold: all but leases.
struct TieredChanges: Sendable {
  /// An entry to store.
  struct Put: Sendable {
    let payload: [UInt8]
    let metadata: EntryMetadata
  }

  /// The state to reach of each key, `nil` for an entry to remove, in no order.
  private(set) var finals: [(key: CacheKey, put: Put?)] = []

  /// The changes of `batch`.
  init(_ batch: WriteBatch) {
    var places: [CacheKey: Int] = [:]
    for operation in batch.operations {
      let (key, put): (CacheKey, Put?)
      switch operation {
      case .require: continue
      case .put(let changed, let payload, let metadata):
        (key, put) = (changed, Put(payload: payload, metadata: metadata))
      case .remove(let changed): (key, put) = (changed, nil)
      }
      guard !key.isLease else { continue }
      if let place = places[key] {
        finals[place].put = put
      } else {
        places[key] = finals.count
        finals.append((key, put))
      }
    }
  }

  /// The change that makes near hold an entry as far has it.
  init(_ key: CacheKey, _ put: Put?) { finals = [(key, put)] }

  /// The sum of the payload sizes.
  var payloadBytes: Int { finals.reduce(0) { $0 + ($1.put?.payload.count ?? 0) } }

  /// The changes as a batch.
  var batch: WriteBatch {
    var batch = WriteBatch()
    for (key, put) in finals {
      if let put { batch.put(key, payload: put.payload, metadata: put.metadata) } else { batch.remove(key) }
    }
    return batch
  }

  /// Removes all the entries.
  var removals: WriteBatch {
    var batch = WriteBatch()
    for (key, _) in finals { batch.remove(key) }
    return batch
  }
}

extension CacheKey {
  /// Whether it is the key of a lease.
  var isLease: Bool { namespaceLength == Lease.namespace.utf8.count && text.hasPrefix(Lease.keyPrefix) }
}
