internal import FetchVocabulary
internal import StorageSPI
internal import Synchronization

/// The near engine of a `TieredEngine`. It may fail: what it cannot answer, far does.
///
/// A store that turns out to be damaged is removed, and filled again by what is read.
final class NearTier: Sendable {
  /// What near says to a read.
  enum Answer<Output: Sendable>: Sendable {
    /// What the closure made of the entry.
    case entry(Output)
    /// The closure failed.
    case failed(CacheError)
    /// There is an entry with that checksum, which is not usable.
    case unusable(UInt64)
    /// There is no entry that can be read.
    case none
  }

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
  private let state = Mutex(State.closed)

  /// Opens the store of `plugin`, and removes a damaged one first. If that fails, far answers everything.
  init(_ plugin: any StoragePlugin, _ configuration: EngineConfiguration, _ limits: StoreLimits) async {
    self.plugin = plugin
    self.configuration = configuration
    self.limits = limits
    var result = await opened(replacing: configuration.hasCrashMark)
    if case .failed(let error) = result, error.code == .damaged { result = await opened(replacing: true) }
    state.withLock { $0 = result }
  }

  /// Why near cannot be used; `nil` if it can.
  var failure: CacheError? {
    state.withLock { if case .failed(let error) = $0 { error } else { nil } }
  }

  /// What `body` makes of the entry under `key`, if `isUsable` returns `true` for its metadata.
  func read<Output: Sendable>(
    _ key: CacheKey, where isUsable: @Sendable (EntryMetadata) -> Bool,
    _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async -> Answer<Output> {
    guard let engine = current?.engine else { return .none }
    do throws(CacheError) {
      let answer = try await engine.read(key) { bytes, metadata throws(CacheError) -> Answer<Output> in
        guard isUsable(metadata) else { return .unusable(metadata.checksum) }
        do throws(CacheError) { return .entry(try body(bytes, metadata)) } catch { return .failed(error) }
      }
      return answer ?? .none
    } catch {
      await rebuild(after: error)
      return .none
    }
  }

  /// Records a use of the entry whose key has that digest, by which the limits choose.
  func countUse(_ digest: UInt64, at now: Timestamp) { accesses.record(digest: digest, at: now) }

  /// Makes the changes. If there is no room, the least used of the others go. An entry that cannot be stored is removed,
  /// and so is one that was to be updated and is another one here.
  func apply(_ changes: TieredChanges) async {
    guard let opened = current, let key = changes.byKey.keys.first else { return }
    do throws(CacheError) {
      let bytes = changes.payloadBytes
      guard bytes <= limits.maxBytes else { return try await opened.engine.apply(changes.removals) }
      try await opened.writer.apply(changes.batch, storing: key, bytes: bytes)
    } catch {
      await rebuild(after: error)
      try? await current?.engine.apply(changes.removals)
    }
  }

  func count() async throws(CacheError) -> StoreCount {
    if let failure { throw failure }
    guard let engine = current?.engine else { throw .storeClosed }
    return try await engine.count()
  }

  /// Removes what has expired, and unused space.
  func compact() async { try? await current?.engine.compact() }

  /// Looks for damage, and removes the store if there is some.
  func check() async {
    do throws(CacheError) {
      let issues = try await current?.engine.check() ?? []
      if !issues.isEmpty { await rebuild(after: CacheError(.damaged, "the near store is damaged")) }
    } catch {
      await rebuild(after: error)
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

  /// Opens the store, after removing the one that is there if it is to be replaced.
  private func opened(replacing: Bool) async -> State {
    do throws(CacheError) {
      if replacing {
        _ = try await plugin.removeStore(configuration, movingAside: nil)
        try configuration.removeCrashMark()
      }
      let engine = try await plugin.open(configuration)
      let writer = BoundedWriter(
        engine: engine, clock: configuration.clock, limits: limits, operations: OperationCounter(), accesses: accesses,
        sweeps: SweepKeeper(nil), removesExpired: !plugin.declaration.capabilities.contains(.expiring))
      return .open(Opened(engine: engine, writer: writer))
    } catch {
      return .failed(error)
    }
  }

  /// Replaces a damaged store by an empty one. Calls meanwhile find nothing.
  private func rebuild(after error: CacheError) async {
    guard error.code == .damaged else { return }
    let damaged = state.withLock { state -> Opened? in
      guard case .open(let opened) = state else { return nil }
      state = .failed(CacheError(.damaged, "the near store is being rebuilt"))
      return opened
    }
    guard let damaged else { return }
    try? await damaged.engine.close()
    let result = await opened(replacing: true)
    let isClosed = state.withLock { state in
      if case .closed = state { return true }
      state = result
      return false
    }
    if isClosed, case .open(let opened) = result { try? await opened.engine.close() }
  }
}

/// What a batch does to the entries that near may hold: all but leases.
struct TieredChanges: Sendable {
  /// A change of one entry.
  enum Change: Sendable {
    case put(payload: [UInt8], EntryMetadata)
    case update(EntryMetadata, from: UInt64)
    case remove

    /// The checksum of the entry afterwards; `nil` if there is none.
    var checksum: UInt64? {
      switch self {
      case .put(_, let metadata), .update(let metadata, _): metadata.checksum
      case .remove: nil
      }
    }
  }

  /// What all operations on a key come to.
  private(set) var byKey: [CacheKey: Change] = [:]

  /// The changes of `batch`.
  init(_ batch: WriteBatch) {
    for operation in batch.operations {
      switch operation {
      case .require: continue
      case .put(let key, let payload, let metadata): byKey[key] = .put(payload: payload, metadata)
      case .update(let key, let metadata, let checksum):
        byKey[key] =
          switch byKey[key] {
          case .put(let payload, _): .put(payload: payload, metadata)
          case .update(_, let first): .update(metadata, from: first)
          case .remove, nil: .update(metadata, from: checksum)
          }
      case .remove(let key): byKey[key] = .remove
      }
    }
    byKey = byKey.filter { !$0.key.isLease }
  }

  /// One change, which makes near hold an entry as far has it.
  init(_ key: CacheKey, _ change: Change) { byKey = [key: change] }

  /// The sum of the sizes of the payloads that are put.
  var payloadBytes: Int {
    byKey.values.reduce(0) { sum, change in if case .put(let payload, _) = change { sum + payload.count } else { sum } }
  }

  /// The changes as a batch.
  var batch: WriteBatch {
    var batch = WriteBatch()
    for (key, change) in byKey {
      switch change {
      case .put(let payload, let metadata): batch.put(key, payload: payload, metadata: metadata)
      case .update(let metadata, let checksum): batch.update(key, metadata: metadata, from: checksum)
      case .remove: batch.remove(key)
      }
    }
    return batch
  }

  /// Removes all the entries.
  var removals: WriteBatch {
    var batch = WriteBatch()
    for key in byKey.keys { batch.remove(key) }
    return batch
  }
}

extension CacheKey {
  /// Whether it is the key of a lease.
  var isLease: Bool { namespaceLength == Lease.namespace.utf8.count && text.hasPrefix(Lease.keyPrefix) }
}
