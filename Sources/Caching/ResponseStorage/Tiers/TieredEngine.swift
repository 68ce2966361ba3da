internal import EngineSupport
internal import FetchVocabulary
public import StorageSPI
internal import Synchronization

/// An engine over two: near, on this machine, in front of far, which all machines share. See `TieredLayer`.
///
/// Far decides: it judges each batch, and each read that near may not answer. Near answers for an entry while it is fresh and
/// `NearConfirmations` says that far holds the same. Far is asked about a stale entry in any case, since another machine may
/// have revalidated it.
package final class TieredEngine: Evicting, ChangeCounting {
  private let far: any StorageEngine
  private let near: NearTier
  private let confirmations: NearConfirmations
  private let clock: any WallClock
  private let evicts: Bool
  private let maximumPayload: Int
  private let counts = TierCounts()

  init(near: NearTier, far: any StorageEngine, _ layer: TieredLayer, clock: any WallClock) {
    self.near = near
    self.far = far
    self.clock = clock
    confirmations = NearConfirmations(maxAge: layer.nearMaxAge, now: layer.uptime)
    evicts = layer.base.declaration.capabilities.contains(.eviction)
    maximumPayload = layer.limits.maxBytes
  }

  // MARK: Reading

  package func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? {
    if key.isLease { return try await far.read(key, body) }
    let (digest, knowledge, now) = (AccessRecord.digest(of: key), knowledge(of: key), clock.now)
    var held: UInt64?
    do throws(NearRefusal) {
      let isUsable = { @Sendable metadata in self.isConfirmed(digest, metadata, knowledge, at: now) }
      if let output = try await near.read(key, where: isUsable, body) {
        counts.count(.near)
        near.countUse(digest, at: now)
        return output
      }
    } catch {
      switch error {
      case .unusable(let checksum): held = checksum
      case .failed(let error): if error.code != .damaged { throw error }
      }
    }
    return try await readFar(key, confirmations.reading(digest, knowledge), held: held, body)
  }

  /// Whether near may answer with that entry: far has confirmed it, as far as is known.
  private func isConfirmed(
    _ digest: UInt64, _ metadata: EntryMetadata, _ knowledge: NearConfirmations.Knowledge, at now: Timestamp
  ) -> Bool {
    metadata.state(at: now) == .fresh && confirmations.isConfirmed(digest, metadata.checksum, knowledge)
  }

  /// Reads far, and makes near hold the same.
  ///
  /// - Parameter held: the checksum of the entry that near holds; `nil` if it holds none that can be used.
  private func readFar<Output: Sendable>(
    _ key: CacheKey, _ reading: NearConfirmations.Reading, held: UInt64?,
    _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? {
    let found: (output: Output, checksum: UInt64, copy: TieredChanges.Put?, isTooLarge: Bool)?
    do throws(CacheError) {
      found = try await far.read(key) { [maximumPayload] bytes, metadata throws(CacheError) in
        let output = try body(bytes, metadata)
        let isTooLarge = bytes.count > maximumPayload
        if held == metadata.checksum || isTooLarge { return (output, metadata.checksum, nil, isTooLarge) }
        let payload = bytes.withUnsafeBufferPointer { Array($0) }
        return (output, metadata.checksum, TieredChanges.Put(payload: payload, metadata: metadata), false)
      }
    } catch {
      counts.note(error)
      guard error.isAway, held != nil, let output = try await standIn(key, body) else { throw error }
      return output
    }
    counts.noteAnswer()
    guard let found else {
      if held != nil { await near.apply(TieredChanges(key, nil)) }
      return nil
    }
    counts.count(.far)
    let isCurrent = confirmations.confirm(found.checksum, reading)
    if let copy = found.copy, isCurrent { await near.apply(TieredChanges(key, copy)) }
    if found.isTooLarge, held != nil { await near.apply(TieredChanges(key, nil)) }
    return found.output
  }

  /// What `body` makes of near's entry, while far is away.
  private func standIn<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? {
    do throws(NearRefusal) {
      let output = try await near.read(key, where: { _ in true }, body)
      if output != nil { counts.count(.near) }
      return output
    } catch {
      if case .failed(let error) = error { throw error }
      return nil
    }
  }

  /// What far says of others' changes to the entry under `key`.
  private func knowledge(of key: CacheKey) -> NearConfirmations.Knowledge {
    if let counter = far.changeCounter { return .counted((try? counter.changeCount()) ?? nil) }
    return far.changeFollower?.changeMark(of: key).map { .followed($0.number) } ?? .none
  }

  // MARK: Writing

  package func apply(_ batch: WriteBatch) async throws(CacheError) {
    _ = try await write(batch) { far throws(CacheError) in
      try await far.apply(batch)
      return 0
    }
  }

  /// The engine itself if far evicts.
  package var evictor: (any Evicting)? { evicts ? self : nil }

  package func apply(_ batch: WriteBatch, evicting order: EvictionOrder) async throws(CacheError) -> Int {
    try await write(batch) { far throws(CacheError) in
      if let evictor = far.evictor { return try await evictor.apply(batch, evicting: order) }
      try await far.apply(batch)
      return 0
    }
  }

  package func add(_ uses: [EntryUse]) async throws(CacheError) { try await far.evictor?.add(uses) }

  /// Writes to far, then to near. Returns how many entries far evicted.
  private func write(
    _ batch: WriteBatch, _ commit: (any StorageEngine) async throws(CacheError) -> Int
  ) async throws(CacheError) -> Int {
    let changes = TieredChanges(batch)
    guard !changes.finals.isEmpty else { return try await commit(far) }
    let begun = changes.finals.map { key, put in
      let digest = AccessRecord.digest(of: key)
      return (checksum: put?.metadata.checksum, reading: confirmations.beginChange(digest, knowledge(of: key)))
    }
    do throws(CacheError) {
      let evicted = try await commit(far)
      counts.noteAnswer()
      // What went is not known: near must not go on answering for it.
      if evicted > 0 { confirmations.forgetAll() }
      await near.apply(changes)
      for change in begun { confirmations.endChange(change.checksum, change.reading) }
      return evicted
    } catch {
      for change in begun { confirmations.endChange(nil, change.reading) }
      counts.note(error)
      throw error
    }
  }

  // MARK: Everything else

  package func scan(_ range: KeyRange, limit: Int) async throws(CacheError) -> [EntrySummary] {
    try await far.scan(range, limit: limit)
  }

  package func statistics() async throws(CacheError) -> StorageStatistics { try await far.statistics() }

  /// What is wrong with far. If something is wrong with near, near is rebuilt.
  package func checkIntegrity() async throws(CacheError) -> [IntegrityIssue] {
    await near.check()
    return try await far.checkIntegrity()
  }

  package func compact() async throws(CacheError) {
    await near.compact()
    try await far.compact()
  }

  package func releaseMemory() async {
    await near.releaseMemory()
    await far.releaseMemory()
  }

  /// The engine itself if far counts its changes.
  package var changeCounter: (any ChangeCounting)? { far.changeCounter == nil ? nil : self }

  package func changeCount() throws(CacheError) -> UInt64? { try far.changeCounter?.changeCount() }

  package var batchReader: (any BatchReading)? { far.batchReader }

  package func close() async throws(CacheError) {
    await near.close()
    try await far.close()
  }
}

extension TieredEngine {
  /// What each tier holds, and how it has served, near first. Cost: that of `statistics()` of each tier.
  package func tiers() async -> [TierReport] {
    let counts = self.counts.current
    var nearReport = TierReport(name: "near", hits: counts.near, failure: near.failure)
    var farReport = TierReport(name: "far", hits: counts.far, failure: counts.failure)
    do throws(CacheError) { nearReport.statistics = try await near.statistics() } catch {
      nearReport.failure = nearReport.failure ?? error
    }
    do throws(CacheError) {
      farReport.statistics = try await far.statistics()
    } catch {
      farReport.failure = error
    }
    return [nearReport, farReport]
  }

  /// Where the entry under `key` is, in a few words. It changes nothing. Cost: a read of near.
  package func tier(of key: CacheKey) async -> String {
    let (digest, knowledge, now) = (AccessRecord.digest(of: key), knowledge(of: key), clock.now)
    do throws(NearRefusal) {
      let isUsable = { @Sendable metadata in self.isConfirmed(digest, metadata, knowledge, at: now) }
      let found: Void? = try await near.read(key, where: isUsable) { _, _ throws(CacheError) in }
      return found == nil ? "not in near" : "in near, confirmed by far"
    } catch {
      return "in near, not confirmed by far"
    }
  }

  /// What users should know of the tiers now, such as that one of them is away; `nil` if all is well. Cost: a lock.
  package var tierWarning: CacheError? {
    if let failure = near.failure { return failure }
    guard let failure = counts.current.failure else { return nil }
    return CacheError(failure.code, "far is away, and near stands in for it: \(failure.message)", hint: failure.hint)
  }
}

extension StorageEngine {
  /// The engine of the layer `tiered` in this one; `nil` if it has none.
  package var tiered: TieredEngine? { self as? TieredEngine ?? wrapped?.tiered }
}

/// Which tier answered how often, and why far did not.
final class TierCounts: Sendable {
  enum Tier {
    case near, far
  }

  private let near = Atomic(0)
  private let far = Atomic(0)
  private let hasFailure = Atomic(false)
  private let failure = Mutex<CacheError?>(nil)

  /// The numbers of entries that each tier has answered with, and the failure of the last call of far; `nil` if it
  /// answered.
  var current: (near: Int, far: Int, failure: CacheError?) {
    (near.load(ordering: .relaxed), far.load(ordering: .relaxed), failure.withLock { $0 })
  }

  /// Counts an answer with an entry.
  func count(_ tier: Tier) {
    switch tier {
    case .near: near.add(1, ordering: .relaxed)
    case .far: far.add(1, ordering: .relaxed)
    }
  }

  /// Records that far answered.
  func noteAnswer() {
    guard hasFailure.load(ordering: .relaxed) else { return }
    failure.withLock {
      $0 = nil
      hasFailure.store(false, ordering: .relaxed)
    }
  }

  /// Records that a call of far failed, if that is because far is away.
  func note(_ error: CacheError) {
    guard error.isAway else { return }
    failure.withLock {
      $0 = error
      hasFailure.store(true, ordering: .relaxed)
    }
  }
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
  public internal(set) var statistics: StorageStatistics?
}

extension CacheError {
  /// Whether the engine is away, such as a server that cannot be reached or still loads its data, and may be back later.
  var isAway: Bool { code == .unreachable || code == .busy }

  /// Whether the store cannot be used, and must be rebuilt.
  var isDamage: Bool { code == .damaged }
}
