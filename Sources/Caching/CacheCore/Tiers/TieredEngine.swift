public import EngineAPI
internal import Synchronization

/// An engine over two: a local store on this machine, in front of a remote store that several machines share. See
/// `TieredLayer`.
///
/// The remote engine decides: it judges each batch, and each read that no local copy can serve. A local copy is served
/// while it is fresh and `Confirmations` says that the remote store has the same version. A stale entry is read from
/// the remote store in any case, since another machine might have revalidated it.
///
/// The local engine can fail: the remote one serves then. A local store that turns out to be damaged is removed, and
/// filled again by reads.
package final class TieredEngine: WrappingEngine {
  /// The remote engine.
  package let base: any StorageEngine
  private let local: AwaitedEngine
  /// Writes to the local store.
  private let writer: BoundedWriter
  private let confirmations: Confirmations
  private let clock: any WallClock
  /// Whether the remote engine is bounded. Counting the entries of one that is not might cost a scan.
  private let isBounded: Bool
  /// Whether the remote engine counts all changes, or follows those that others make.
  private let isCounting: Bool
  private let isFollowing: Bool
  /// The number of reads that a local copy has served.
  let localHits = Atomic<UInt64>(0)
  /// Why the remote engine was away at its last call, and when that was; `nil` if it was not away.
  private let absence = Mutex<(reason: CacheError, since: Timestamp)?>(nil)

  init(local: AwaitedEngine, remote: any StorageEngine, _ layer: TieredLayer, clock: any WallClock) {
    self.local = local
    base = remote
    self.clock = clock
    confirmations = Confirmations(maxAge: layer.localMaxAge)
    let (own, others) = (layer.local.plugin.declaration.capabilities, layer.base.declaration.capabilities)
    isBounded = others.contains(.bounded)
    isCounting = others.contains(.countsChanges)
    isFollowing = others.contains(.followsChanges)
    writer = BoundedWriter(
      engine: local, clock: clock, limits: own.contains(.bounded) ? layer.limits : nil, uses: StoreUse(),
      isOrdered: own.contains(.ordered), removesExpired: !own.contains(.expiring))
  }

  // MARK: Reading

  package func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? {
    if key.isLease { return try await base.read(key, body) }
    let moment = moment(key)
    // Not results of the call, which would cost a lookup of generic metadata. The engine calls the closure before it returns.
    nonisolated(unsafe) var output: Output?
    nonisolated(unsafe) var isAnswered = false
    nonisolated(unsafe) var held: EntryMetadata?
    do throws(CacheError) {
      try await local.opened?.read(key) { bytes, metadata throws(CacheError) in
        isAnswered = self.isCurrent(metadata, moment)
        if isAnswered { output = try body(bytes, metadata) } else { held = metadata }
      }
    } catch {
      // It might be `body` that failed. If the copy is damaged, the entry in the remote store might be intact.
      if !isAnswered { await noteLocal(error) } else if error.code != .damaged { throw error }
    }
    if let output {
      countLocalHit(moment)
      return output
    }
    return try await readRemote(key, moment, held: held, body)
  }

  /// Serves a usable local copy. Everything else can wait.
  package func readNow(
    _ key: Span<UInt8>, _ body: (Span<UInt8>, EntryMetadata) throws(CacheError) -> Void
  ) throws(CacheError) -> Bool? {
    guard let local = local.opened else { return nil }
    let moment = moment(CacheKey(trusting: key))
    var isAnswered = false
    do throws(CacheError) {
      _ = try local.readNow(key) { bytes, metadata throws(CacheError) in
        guard isCurrent(metadata, moment) else { return }
        isAnswered = true
        try body(bytes, metadata)
      }
    } catch {
      if isAnswered { throw error }
    }
    if isAnswered { countLocalHit(moment) }
    return isAnswered ? true : nil
  }

  /// The state of the entry under `key` before it is read.
  private func moment(_ key: CacheKey) -> Confirmations.Moment {
    let change = isCounting ? try? base.changeCount() : isFollowing ? base.changeMark(of: key)?.number : 0
    return confirmations.moment(AccessRecord.digest(of: key), change, clock.now)
  }

  /// Whether a local copy with that metadata can be served.
  private func isCurrent(_ metadata: EntryMetadata, _ moment: Confirmations.Moment) -> Bool {
    metadata.state(at: moment.time) == .fresh && confirmations.isConfirmed(metadata.checksum, moment)
  }

  /// Counts a hit. One in eight is recorded as a use of the entry, by which the limits choose: that is enough to find
  /// frequently used entries. The choice does not depend on the order of the reads.
  private func countLocalHit(_ moment: Confirmations.Moment) {
    let hits = localHits.add(1, ordering: .relaxed).newValue
    guard (moment.digest &+ hits &* 0x9E37_79B9_7F4A_7C15) >> 61 == 0 else { return }
    writer.uses.record(digest: moment.digest, at: moment.time)
  }

  /// Reads the remote store, and stores a local copy. While the remote engine is away, a copy of any version is served.
  ///
  /// - Parameter held: the metadata of the local copy; `nil` if there is none that can be read.
  private func readRemote<Output: Sendable>(
    _ key: CacheKey, _ moment: Confirmations.Moment, held: EntryMetadata?,
    _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? {
    if held != nil, wasJustAway(at: moment.time), let output = await readCopy(key, moment, body) { return output }
    // Not results of the call: see `read`.
    nonisolated(unsafe) var version: UInt64 = 0
    nonisolated(unsafe) var copy: WriteBatch.Operation?
    let output: Output?
    do throws(CacheError) {
      output = try await base.read(key) { bytes, metadata throws(CacheError) in
        let output = try body(bytes, metadata)
        version = metadata.checksum
        if metadata != held {
          copy = .put(key, payload: bytes.withUnsafeBufferPointer { Array($0) }, metadata)
        }
        return output
      }
      note(nil)
    } catch {
      note(error)
      if error.isAway, let output = await readCopy(key, moment, body) { return output }
      throw error
    }
    guard let output else {
      if held != nil { await writeLocal(WriteBatch([.remove(key)])) }
      return nil
    }
    if confirmations.confirm(version, moment), let copy { await writeLocal(WriteBatch([copy])) }
    return output
  }

  /// The result of `body` for the local copy, which need not be confirmed; `nil` if there is none that can be read, or
  /// it has expired: it would turn the failure of the remote store into a miss.
  private func readCopy<Output: Sendable>(
    _ key: CacheKey, _ moment: Confirmations.Moment,
    _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async -> Output? {
    let copy = try? await local.read(key) { bytes, metadata throws(CacheError) -> Output? in
      metadata.state(at: moment.time) == .expired ? nil : try body(bytes, metadata)
    }
    guard let output = copy ?? nil else { return nil }
    localHits.add(1, ordering: .relaxed)
    return output
  }

  // MARK: Writing

  /// Writes to the remote store, then to the local one. The next read of an entry confirms its copy.
  package func apply(_ batch: WriteBatch) async throws(CacheError) {
    let changes = WriteBatch(batch.operations.filter { if case .require = $0 { false } else { !$0.key.isLease } })
    let digests = changes.keys.map { AccessRecord.digest(of: $0) }
    digests.forEach(confirmations.beginChange)
    defer { digests.forEach(confirmations.endChange) }
    do throws(CacheError) {
      try await base.apply(batch)
      note(nil)
    } catch {
      note(error)
      throw error
    }
    await writeLocal(changes)
  }

  /// Makes the changes in the local store. An entry that cannot be stored is removed, and so is one that was to be updated
  /// and has another version here.
  private func writeLocal(_ batch: WriteBatch) async {
    guard let key = batch.operations.first?.key else { return }
    var bytes = 0
    for case .put(_, let payload, _) in batch.operations { bytes += payload.count }
    do throws(CacheError) {
      try await writer.apply(batch, storing: key, bytes: bytes)
    } catch {
      await noteLocal(error)
      try? await local.apply(WriteBatch(batch.keys.map { .remove($0) }))
    }
  }

  // MARK: Everything else

  /// Checks both stores, and returns the problems of the remote one. A damaged local store is removed.
  package func check() async throws(CacheError) -> [IntegrityIssue] {
    if (try? await local.check())?.isEmpty == false {
      await noteLocal(CacheError(.damaged, "the local store is damaged"))
    }
    return try await base.check()
  }

  package func compact() async throws(CacheError) {
    try? await local.compact()
    try await base.compact()
  }

  package func close() async throws(CacheError) {
    try? await local.close()
    try await base.close()
  }

  /// Has a damaged local store replaced by an empty one.
  private func noteLocal(_ error: CacheError) async {
    if error.code == .damaged { await local.reopen(after: error) }
  }

  /// Records whether the remote engine was away at its last call, which failed with `error` or, with `nil`, succeeded.
  private func note(_ error: CacheError?) {
    if let error, !error.isAway { return }
    let now = clock.now
    absence.withLock { $0 = error.map { ($0, now) } }
  }

  /// Whether the remote engine was away less than a second ago: each call can take until a connection times out.
  /// Otherwise the caller is the next to find out.
  private func wasJustAway(at now: Timestamp) -> Bool {
    absence.withLock { absence in
      guard let since = absence?.since else { return false }
      // A clock that was set back ends the pause.
      if since <= now, now < since.advanced(by: AwaitedEngine.pause) { return true }
      absence?.since = now
      return false
    }
  }
}

extension TieredEngine {
  /// The content of each store, the local one first. Cost: that of `count()` of each bounded engine.
  package func tiers() async -> [TierReport] {
    var copies = TierReport(name: "local")
    var shared = TierReport(name: "remote", failure: absence.withLock { $0?.reason })
    do throws(CacheError) { copies.count = try await local.count() } catch { copies.failure = error }
    if isBounded {
      do throws(CacheError) { shared.count = try await base.count() } catch { shared.failure = error }
    }
    return [copies, shared]
  }

  /// The place of the entry under `key`, in a few words. It changes nothing. Cost: a read of the local store.
  package func tier(of key: CacheKey) async -> String {
    let moment = moment(key)
    let isCurrent = try? await local.read(key) { _, metadata in self.isCurrent(metadata, moment) }
    guard let isCurrent else { return "no local copy" }
    return isCurrent ? "a local copy, confirmed by the remote store" : "a local copy, not confirmed by the remote store"
  }

  /// A warning for users, such as that the remote engine is unreachable; `nil` if all is well. Cost: a lock.
  package var tierWarning: CacheError? {
    if let failure = local.failure { return failure }
    guard let reason = absence.withLock({ $0?.reason }) else { return nil }
    return CacheError(
      reason.code, "the remote store is away, and only local copies are served: \(reason.message)", hint: reason.hint)
  }
}

extension StorageEngine {
  /// The engine of the layer `tiered` in this one; `nil` if it has none.
  package var tiered: TieredEngine? { self as? TieredEngine ?? wrapped?.tiered }
}

/// The content of one store of a tiered engine.
public struct TierReport: Sendable {
  /// The store: "local" or "remote".
  public let name: String
  /// How much it holds; `nil` if that cannot be told.
  public internal(set) var count: StoreCount?
  /// Why that cannot be told; `nil` if all is well.
  public internal(set) var failure: CacheError?
}

extension CacheError {
  /// Whether the engine is away, such as a server that cannot be reached or still loads its data, and can be back
  /// later.
  var isAway: Bool { code == .unreachable || code == .busy }
}
