internal import Synchronization

/// Sees to it that read transactions which readers keep open do not hold back the store for long: as long as one is
/// open, what is written cannot take the place of what it sees, and the file grows.
///
/// There is one keeper a store and process. A transaction that is kept open is ended
/// - by its reader, when it is used again and something has changed;
/// - by `endIdle()`, which whoever writes in this process calls first;
/// - by the keeper's thread, when it has not been used for the length of `interval`, twice that at most.
///
/// The thread is started when the first transaction is kept, waits on a condition variable while none is, and ends with
/// the keeper.
public final class SnapshotKeeper: Sendable {
  private let pools: SnapshotPools
  private let thread: TickingThread

  /// A keeper of nothing, without a thread.
  ///
  /// - Parameter interval: how often the thread looks, while a transaction is kept.
  public init(interval: Duration = .milliseconds(2)) {
    let pools = SnapshotPools()
    self.pools = pools
    thread = TickingThread(interval: interval) { pools.tick() }
  }

  deinit { thread.stop() }

  /// Includes the idle readers of `pool`, for as long as it lives.
  public func add<Reader: SnapshotHolding>(_ pool: ResourcePool<Reader>) { pools.add(pool) }

  /// Whether any reader keeps its transaction open.
  public var isKeeping: Bool { pools.kept.load(ordering: .relaxed) > 0 }

  /// Ends the transactions that idle readers keep open. On return none is, but of readers that are in use.
  ///
  /// Cost where nothing is kept: one atomic load.
  public func endIdle() {
    if isKeeping { pools.endIdle(unlessUsed: false) }
  }

  /// What the thread does: ends the transactions of idle readers that were not used since the last time.
  ///
  /// - Returns: whether there is something left to look after.
  @discardableResult func tick() -> Bool { pools.tick() }

  /// Notes that a transaction stays open.
  ///
  /// - Returns: whether it may: not where there is no thread to be had.
  func willKeep() -> Bool {
    pools.kept.wrappingAdd(1, ordering: .relaxed)  // First, so that the thread finds it whenever it looks.
    guard thread.wake() else {
      didEnd()
      return false
    }
    return true
  }

  /// Notes that a transaction which was kept open has ended.
  func didEnd() { pools.kept.wrappingSubtract(1, ordering: .relaxed) }
}

/// The readers of a keeper: apart from it, because the thread may outlive it for a moment.
private final class SnapshotPools: Sendable {
  private struct Member: Sendable {
    weak var pool: (any SnapshotPool)?
  }

  /// How many transactions are open that nobody uses, or whose readers will leave them open.
  let kept = Atomic<Int>(0)
  private let members = Mutex<[Member]>([])

  func add(_ pool: any SnapshotPool) {
    members.withLock { members in
      members.removeAll { $0.pool == nil }
      members.append(Member(pool: pool))
    }
  }

  func endIdle(unlessUsed: Bool) {
    for member in members.withLock({ $0 }) { member.pool?.endIdleSnapshots(unlessUsed: unlessUsed) }
  }

  func tick() -> Bool {
    if kept.load(ordering: .relaxed) > 0 { endIdle(unlessUsed: true) }
    return kept.load(ordering: .relaxed) > 0
  }
}

/// A pool whose type of readers does not matter.
private protocol SnapshotPool: AnyObject, Sendable {
  func endIdleSnapshots(unlessUsed: Bool)
}

extension ResourcePool: SnapshotPool where Resource: SnapshotHolding {
  fileprivate func endIdleSnapshots(unlessUsed: Bool) {
    forEachIdle { $0.endKeptSnapshot(unlessUsed: unlessUsed) }
  }
}
