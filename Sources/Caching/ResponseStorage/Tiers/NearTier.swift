internal import FetchVocabulary
internal import StorageSPI

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

  private let engine: AwaitedEngine
  private let writer: BoundedWriter
  private let limits: StoreLimits

  /// Opens the store of `plugin`; a damaged one is removed first. If that fails, far answers, and later calls try again.
  init(_ plugin: any StoragePlugin, _ configuration: EngineConfiguration, _ limits: StoreLimits) async {
    self.limits = limits
    engine = AwaitedEngine(clock: configuration.clock) { reason throws(CacheError) in
      var isDamaged = reason.code == .damaged || configuration.hasCrashMark
      while true {
        if isDamaged {
          _ = try await plugin.removeStore(configuration, movingAside: nil)
          try configuration.removeCrashMark()
        }
        do throws(CacheError) { return try await plugin.open(configuration) } catch {
          guard error.code == .damaged, !isDamaged else { throw error }
          isDamaged = true
        }
      }
    }
    let capabilities = plugin.declaration.capabilities
    writer = BoundedWriter(
      engine: engine, clock: configuration.clock, limits: limits, operations: OperationCounter(),
      accesses: AccessRecorder(), sweeps: SweepKeeper(nil, isOrdered: capabilities.contains(.ordered)),
      removesExpired: !capabilities.contains(.expiring))
    await engine.openNow()
  }

  /// Why near cannot be used; `nil` if it can.
  var failure: CacheError? { engine.failure }

  /// What `body` makes of the entry under `key`, if `isUsable` returns `true` for its metadata.
  func read<Output: Sendable>(
    _ key: CacheKey, where isUsable: @Sendable (EntryMetadata) -> Bool,
    _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async -> Answer<Output> {
    do throws(CacheError) {
      let answer = try await engine.read(key) { bytes, metadata throws(CacheError) -> Answer<Output> in
        guard isUsable(metadata) else { return .unusable(metadata.checksum) }
        do throws(CacheError) { return .entry(try body(bytes, metadata)) } catch { return .failed(error) }
      }
      return answer ?? .none
    } catch {
      await note(error)
      return .none
    }
  }

  /// Records a use of the entry whose key has that digest, by which the limits choose.
  func countUse(_ digest: UInt64, at now: Timestamp) { writer.accesses.record(digest: digest, at: now) }

  /// Makes the changes. If there is no room, the least used of the others go. An entry that cannot be stored is removed,
  /// and so is one that was to be updated and is another one here.
  func apply(_ changes: TieredChanges) async {
    guard let key = changes.checksums.keys.first else { return }
    do throws(CacheError) {
      let bytes = changes.payloadBytes
      guard bytes <= limits.maxBytes else { return try await engine.apply(changes.removals) }
      try await writer.apply(changes.batch, storing: key, bytes: bytes)
    } catch {
      await note(error)
      try? await engine.apply(changes.removals)
    }
  }

  func count() async throws(CacheError) -> StoreCount { try await engine.count() }

  /// Removes what has expired, and unused space.
  func compact() async { try? await engine.compact() }

  /// Looks for damage, and removes the store if there is some.
  func check() async {
    do throws(CacheError) {
      if try await engine.check().isEmpty { return }
      throw CacheError(.damaged, "the near store is damaged")
    } catch {
      await note(error)
    }
  }

  func close() async { try? await engine.close() }

  /// Has a damaged store replaced by an empty one.
  private func note(_ error: CacheError) async {
    if error.code == .damaged { await engine.reopen(after: error) }
  }
}

/// What a batch does to the entries that near may hold: all but leases.
struct TieredChanges: Sendable {
  /// The changes, without conditions: far has judged them.
  private(set) var batch = WriteBatch()
  /// The checksum of each changed entry afterwards; `nil` if it is removed.
  private(set) var checksums: [CacheKey: UInt64?] = [:]
  /// The sum of the sizes of the payloads that are put.
  private(set) var payloadBytes = 0

  /// The changes of `batch`.
  init(_ batch: WriteBatch) {
    for operation in batch.operations {
      switch operation {
      case .put(let key, let payload, let metadata) where !key.isLease:
        self.batch.put(key, payload: payload, metadata: metadata)
        checksums[key] = metadata.checksum
        payloadBytes += payload.count
      case .update(let key, let metadata, let checksum) where !key.isLease:
        self.batch.update(key, metadata: metadata, from: checksum)
        checksums[key] = metadata.checksum
      case .remove(let key): remove(key)
      case .put, .update, .require: continue
      }
    }
  }

  /// Makes near hold an entry as far has it.
  init(_ key: CacheKey, payload: [UInt8], metadata: EntryMetadata) {
    batch.put(key, payload: payload, metadata: metadata)
    checksums[key] = metadata.checksum
    payloadBytes = payload.count
  }

  /// Makes near hold no entry under `key`.
  init(removing key: CacheKey) { remove(key) }

  private mutating func remove(_ key: CacheKey) {
    if key.isLease { return }
    batch.remove(key)
    checksums[key] = .some(nil)
  }

  /// Removes all the entries.
  var removals: WriteBatch {
    var batch = WriteBatch()
    for key in checksums.keys { batch.remove(key) }
    return batch
  }
}

extension CacheKey {
  /// Whether it is the key of a lease.
  var isLease: Bool { namespaceLength == Lease.namespace.utf8.count && text.hasPrefix(Lease.keyPrefix) }
}
