internal import Synchronization

/// Keeps open read transactions from holding back the store for long. While one is open, new data cannot reuse the
/// space of what it sees, and the file grows.
///
/// There is one keeper per store and process. A kept transaction ends
/// - when its reader uses it again and something has changed;
/// - when a writer in this process calls `endIdle()`, which it does before writing;
/// - when it has not been used for `interval`: the keeper's thread ends it, after twice that time at most.
///
/// The thread starts when the first transaction is kept, waits on a condition variable while none is, and ends with the
/// keeper.
public final class SnapshotKeeper: Sendable {
  private let pools: SnapshotPools
  private let thread: TickingThread

  /// A keeper with no transactions and no thread yet.
  ///
  /// - Parameter interval: how often the thread checks, while a transaction is kept.
  public init(interval: Duration = .milliseconds(2)) {
    let pools = SnapshotPools()
    self.pools = pools
    thread = TickingThread(interval: interval) { pools.tick() }
  }

  deinit { thread.stop() }

  /// Also watches the idle readers of `pool`, for as long as it lives.
  public func add<Reader: SnapshotHolding>(_ pool: ResourcePool<Reader>) { pools.add(pool) }

  /// Whether any reader keeps its transaction open.
  public var isKeeping: Bool { pools.kept.load(ordering: .relaxed) > 0 }

  /// Ends the transactions that idle readers keep open. On return, only readers in use have one.
  ///
  /// Cost if none is kept: one atomic load.
  public func endIdle() {
    if isKeeping { pools.endIdle(unlessUsed: false) }
  }

  /// The thread's work: ends the transactions of idle readers that were not used since the last tick.
  ///
  /// - Returns: whether any kept transaction remains.
  @discardableResult func tick() -> Bool { pools.tick() }

  /// Records that a transaction stays open.
  ///
  /// - Returns: whether it may; `false` if no thread could be started.
  func willKeep() -> Bool {
    pools.kept.wrappingAdd(1, ordering: .relaxed)  // First, so that the thread finds it whenever it looks.
    guard thread.wake() else {
      didEnd()
      return false
    }
    return true
  }

  /// Records that a kept transaction has ended.
  func didEnd() { pools.kept.wrappingSubtract(1, ordering: .relaxed) }
}

/// A keeper's readers, in an object of their own because the thread may outlive the keeper for a moment.
private final class SnapshotPools: Sendable {
  private struct Member: Sendable {
    weak var pool: (any SnapshotPool)?
  }

  /// The number of transactions that idle readers keep open, or that readers in use will leave open.
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

/// A pool of readers of any type.
private protocol SnapshotPool: AnyObject, Sendable {
  func endIdleSnapshots(unlessUsed: Bool)
}

extension ResourcePool: SnapshotPool where Resource: SnapshotHolding {
  fileprivate func endIdleSnapshots(unlessUsed: Bool) {
    forEachIdle { $0.endKeptSnapshot(unlessUsed: unlessUsed) }
  }
}
