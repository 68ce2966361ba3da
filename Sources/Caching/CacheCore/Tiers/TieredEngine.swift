internal import EngineSupport
internal import FetchVocabulary
public import StorageSPI
internal import Synchronization

/// An engine over two: near, on this machine, in front of far, which all machines share. See `TieredLayer`.
///
/// Far decides: it judges each batch, and each read that near may not answer. Near answers for an entry while it is fresh and
/// `NearConfirmations` says that far holds the same. A stale entry is read from far in any case, since another machine may
/// have revalidated it.
package final class TieredEngine: StorageEngine {
  private let far: any StorageEngine
  private let near: NearTier
  private let confirmations: NearConfirmations
  private let clock: any WallClock
  /// The capabilities of far.
  private let capabilities: Set<EngineCapability>
  private let maximumPayload: Int
  /// The number of reads that near has answered with an entry.
  private let nearHits = Atomic(0)
  /// The number that far has.
  private let farHits = Atomic(0)
  /// Why far was away at its last call; `nil` if it was not.
  private let absence = Mutex<CacheError?>(nil)

  init(near: NearTier, far: any StorageEngine, _ layer: TieredLayer, clock: any WallClock) {
    self.near = near
    self.far = far
    self.clock = clock
    confirmations = NearConfirmations(maxAge: layer.nearMaxAge, now: layer.uptime)
    capabilities = layer.base.declaration.capabilities
    maximumPayload = layer.limits.maxBytes
  }

  // MARK: Reading

  package func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? {
    if key.isLease { return try await far.read(key, body) }
    let (digest, knowledge, now) = (AccessRecord.digest(of: key), knowledge(of: key), clock.now)
    let isUsable = { @Sendable metadata in self.isConfirmed(digest, metadata, knowledge, at: now) }
    var held: UInt64?
    switch await near.read(key, where: isUsable, body) {
    case .entry(let output):
      nearHits.add(1, ordering: .relaxed)
      near.countUse(digest, at: now)
      return output
    case .failed(let error): if error.code != .damaged { throw error }
    case .unusable(let checksum): held = checksum
    case .none: break
    }
    return try await readFar(key, confirmations.reading(digest, knowledge), held: held, body)
  }

  /// Whether near may answer with that entry: far has confirmed it, as far as is known.
  private func isConfirmed(
    _ digest: UInt64, _ metadata: EntryMetadata, _ knowledge: NearConfirmations.Knowledge, at now: Timestamp
  ) -> Bool {
    metadata.state(at: now) == .fresh && confirmations.isConfirmed(digest, metadata.checksum, knowledge)
  }

  /// Reads far, and makes near hold the same. While far is away, near answers with the entry that it holds.
  ///
  /// - Parameter held: the checksum of the entry that near holds; `nil` if it holds none that can be used.
  private func readFar<Output: Sendable>(
    _ key: CacheKey, _ reading: NearConfirmations.Reading, held: UInt64?,
    _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? {
    let found: (output: Output, checksum: UInt64, change: WriteBatch.Operation?)?
    do throws(CacheError) {
      found = try await far.read(key) { [maximumPayload] bytes, metadata throws(CacheError) in
        let output = try body(bytes, metadata)
        var change: WriteBatch.Operation?
        if bytes.count > maximumPayload {
          if held != nil { change = .remove(key) }
        } else if held != metadata.checksum {
          change = .put(key, payload: bytes.withUnsafeBufferPointer { Array($0) }, metadata)
        }
        return (output, metadata.checksum, change)
      }
    } catch {
      note(error)
      guard error.isAway, held != nil else { throw error }
      switch await near.read(key, where: { _ in true }, body) {
      case .entry(let output):
        nearHits.add(1, ordering: .relaxed)
        return output
      case .failed(let failure): throw failure
      case .unusable, .none: throw error
      }
    }
    note(nil)
    guard let found else {
      if held != nil { await near.apply(TieredChanges([.remove(key)])) }
      return nil
    }
    farHits.add(1, ordering: .relaxed)
    let isCurrent = confirmations.confirm(found.checksum, reading)
    if let change = found.change, isCurrent { await near.apply(TieredChanges([change])) }
    return found.output
  }

  /// What far says of others' changes to the entry under `key`.
  private func knowledge(of key: CacheKey) -> NearConfirmations.Knowledge {
    if capabilities.contains(.countsChanges) { return .counted((try? far.changeCount()) ?? nil) }
    guard capabilities.contains(.followsChanges) else { return .none }
    return far.changeMark(of: key).map { .followed($0.number) } ?? .none
  }

  // MARK: Writing

  /// Writes to far, then to near.
  package func apply(_ batch: WriteBatch) async throws(CacheError) {
    let changes = TieredChanges(batch.operations)
    let begun = changes.checksums.map { key, checksum in
      (checksum: checksum, reading: confirmations.beginChange(AccessRecord.digest(of: key), knowledge(of: key)))
    }
    do throws(CacheError) {
      try await far.apply(batch)
      note(nil)
      await near.apply(changes)
      for change in begun { confirmations.endChange(change.checksum, change.reading) }
    } catch {
      for change in begun { confirmations.endChange(nil, change.reading) }
      note(error)
      throw error
    }
  }

  // MARK: Everything else

  package func scan(_ request: ScanRequest) async throws(CacheError) -> ScanPage { try await far.scan(request) }

  package func count() async throws(CacheError) -> StoreCount { try await far.count() }

  /// What is wrong with far. If something is wrong with near, near is rebuilt.
  package func check() async throws(CacheError) -> [IntegrityIssue] {
    await near.check()
    return try await far.check()
  }

  package func compact() async throws(CacheError) {
    await near.compact()
    try await far.compact()
  }

  package func changeCount() throws(CacheError) -> UInt64? { try far.changeCount() }

  package func close() async throws(CacheError) {
    await near.close()
    try await far.close()
  }

  /// Records whether far was away at its last call, which failed with `error` or, with `nil`, succeeded.
  private func note(_ error: CacheError?) {
    if let error, !error.isAway { return }
    absence.withLock { $0 = error }
  }
}

extension TieredEngine {
  /// What each tier holds, and how it has served, near first. Cost: that of `count()` of each tier.
  package func tiers() async -> [TierReport] {
    var nearReport = TierReport(name: "near", hits: nearHits.load(ordering: .relaxed), failure: near.failure)
    var farReport = TierReport(name: "far", hits: farHits.load(ordering: .relaxed), failure: absence.withLock { $0 })
    do throws(CacheError) { nearReport.count = try await near.count() } catch {
      nearReport.failure = nearReport.failure ?? error
    }
    if capabilities.contains(.bounded) {
      do throws(CacheError) { farReport.count = try await far.count() } catch { farReport.failure = error }
    }
    return [nearReport, farReport]
  }

  /// Where the entry under `key` is, in a few words. It changes nothing. Cost: a read of near.
  package func tier(of key: CacheKey) async -> String {
    let (digest, knowledge, now) = (AccessRecord.digest(of: key), knowledge(of: key), clock.now)
    let isUsable = { @Sendable metadata in self.isConfirmed(digest, metadata, knowledge, at: now) }
    return switch await near.read(key, where: isUsable, { _, _ in () }) {
    case .none: "not in near"
    case .entry: "in near, confirmed by far"
    case .unusable, .failed: "in near, not confirmed by far"
    }
  }

  /// What users should know of the tiers now, such as that one of them is away; `nil` if all is well. Cost: a lock.
  package var tierWarning: CacheError? {
    if let failure = near.failure { return failure }
    guard let failure = absence.withLock({ $0 }) else { return nil }
    return CacheError(failure.code, "far is away, and near stands in for it: \(failure.message)", hint: failure.hint)
  }
}

extension StorageEngine {
  /// The engine of the layer `tiered` in this one; `nil` if it has none.
  package var tiered: TieredEngine? { self as? TieredEngine ?? wrapped?.tiered }
}

/// What one tier of an engine holds, and how it has served.
public struct TierReport: Sendable {
  /// The tier: "near" or "far".
  public let name: String
  /// How many reads it has answered with an entry since the store was opened.
  public let hits: Int
  /// Why it cannot be used; `nil` if all is well.
  public internal(set) var failure: CacheError?
  /// How much it holds; `nil` if that cannot be told.
  public internal(set) var count: StoreCount?
}

extension CacheError {
  /// Whether the engine is away, such as a server that cannot be reached or still loads its data, and may be back later.
  var isAway: Bool { code == .unreachable || code == .busy }
}
