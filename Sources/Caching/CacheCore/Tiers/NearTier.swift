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
    engine = AwaitedEngine(after: nil, clock: configuration.clock) { reason throws(CacheError) in
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
      engine: engine, clock: configuration.clock, limits: limits, uses: StoreUse(),
      isOrdered: capabilities.contains(.ordered), removesExpired: !capabilities.contains(.expiring))
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
  func countUse(_ digest: UInt64, at now: Timestamp) { writer.uses.record(digest: digest, at: now) }

  /// Makes the changes. If there is no room, the least used of the others go. An entry that cannot be stored is removed,
  /// and so is one that was to be updated and is another one here.
  func apply(_ changes: TieredChanges) async {
    guard let key = changes.batch.operations.first?.key else { return }
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

/// Changes of entries that near may hold: of all but leases, and without conditions, which far has judged.
struct TieredChanges: Sendable {
  let batch: WriteBatch

  /// The changes among `operations`.
  init(_ operations: [WriteBatch.Operation]) {
    batch = WriteBatch(operations.filter { if case .require = $0 { false } else { !$0.key.isLease } })
  }

  /// The checksum of each changed entry afterwards; `nil` if it is removed.
  var checksums: [CacheKey: UInt64?] {
    batch.operations.reduce(into: [:]) { checksums, operation in
      switch operation {
      case .put(let key, _, let metadata), .update(let key, let metadata, _): checksums[key] = metadata.checksum
      case .remove(let key), .require(let key, _): checksums[key] = .some(nil)
      }
    }
  }

  /// The sum of the sizes of the payloads that are put.
  var payloadBytes: Int {
    batch.operations.reduce(0) { sum, change in
      if case .put(_, let bytes, _) = change { sum + bytes.count } else { sum }
    }
  }

  /// Removes all the entries.
  var removals: WriteBatch { WriteBatch(Set(batch.operations.map(\.key)).map { .remove($0) }) }
}

extension CacheKey {
  /// Whether it is the key of a lease.
  var isLease: Bool { namespaceLength == Lease.namespace.utf8.count && text.hasPrefix(Lease.keyPrefix) }
}
