internal import CacheBase
internal import Synchronization

/// Decides whether one reader's read transaction stays open while the reader is idle, and tracks its state.
///
/// Beginning a read transaction costs more than checking that nothing has changed since the last one. So a reader that
/// has seen the same state `requiredEqualStates` times in a row leaves its transaction open, and uses it for as long as
/// the store's change count stays the same. The reader of a store that changes often never does this.
///
/// A reader uses it in this order:
///
///     if !kept.isCurrent(count) {          // reading begins
///       if kept.isOpen { end the transaction; kept.ended() }
///       begin a transaction; kept.began(at: count)
///     }
///     ...
///     if !kept.stays() { end the transaction }      // reading has ended
///
/// and in `SnapshotHolding`:
///
///     if kept.isDue(unlessUsed: unlessUsed) { end the transaction; kept.ended() }
public struct KeptSnapshot: ~Copyable {
  /// After this many snapshots of one state in a row, the last one is kept.
  public static let requiredEqualStates = 8

  /// Whether the transaction is open although the reader is idle.
  public private(set) var isOpen = false

  @usableFromInline let keeper: SnapshotKeeper
  @usableFromInline var state: UInt64?
  @usableFromInline var equalStates = 0
  @usableFromInline var wasUsed = false

  /// The state of a reader with no open transaction. `keeper` is its store's keeper.
  public init(_ keeper: SnapshotKeeper) { self.keeper = keeper }

  deinit { if isOpen { keeper.didEnd() } }

  /// Whether the kept transaction sees the latest state, so that the reader can use it as it is.
  ///
  /// - Parameter state: the store's current change count; `nil` if it is unknown.
  @inlinable @inline(__always)
  public mutating func isCurrent(_ state: UInt64?) -> Bool {
    guard isOpen, let state, state == self.state else { return false }
    wasUsed = true
    return true
  }

  /// Records that the reader began a transaction.
  ///
  /// - Parameter state: the change count of the state that the transaction sees; `nil` if it is unknown.
  @inlinable @inline(__always)
  public mutating func began(at state: UInt64?) {
    equalStates = state != nil && state == self.state ? equalStates + 1 : 1
    self.state = state
  }

  /// Records that the reader itself made the next state, and that its transaction sees it.
  @inlinable @inline(__always)
  public mutating func advanced(to state: UInt64) {
    self.state = state
    wasUsed = true
  }

  /// Whether the transaction, which has just been used, stays open. If not, the reader ends it at once.
  @inlinable @inline(__always)
  public mutating func stays() -> Bool { isOpen || (equalStates >= Self.requiredEqualStates && open()) }

  /// Records that the reader has ended a kept transaction.
  public mutating func ended() {
    guard isOpen else { return }
    isOpen = false
    equalStates = 0
    keeper.didEnd()
  }

  /// Whether an idle reader must end its transaction now.
  ///
  /// - Parameter unlessUsed: whether a transaction stays open if it was used since the last time this was asked.
  public mutating func isDue(unlessUsed: Bool) -> Bool {
    defer { wasUsed = false }
    return isOpen && !(unlessUsed && wasUsed)
  }

  @usableFromInline mutating func open() -> Bool {
    guard state != nil, keeper.willKeep() else { return false }
    isOpen = true
    wasUsed = true
    return true
  }
}

/// A reader whose read transaction may stay open while the reader is idle, or a pool of such readers.
public protocol SnapshotHolding: AnyObject, Sendable {
  /// Ends the transaction if it is open, the reader is idle and `KeptSnapshot.isDue` says so. The reader stays idle during
  /// the call.
  func endKeptSnapshot(unlessUsed: Bool)
}

extension ResourcePool: SnapshotHolding where Resource: SnapshotHolding {
  /// Ends the transactions of idle readers.
  public func endKeptSnapshot(unlessUsed: Bool) { forEachIdle { $0.endKeptSnapshot(unlessUsed: unlessUsed) } }
}

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
  /// In an object of its own, because the thread may outlive the keeper for a moment.
  let watch: SnapshotWatch

  /// A keeper with no transactions and no thread yet.
  ///
  /// - Parameter interval: how often the thread checks, while a transaction is kept.
  public init(interval: Duration = .milliseconds(2)) { watch = SnapshotWatch(interval: interval) }

  deinit { watch.stop() }

  /// Also watches `reader`, or the idle readers of a pool, for as long as it lives.
  public func add(_ reader: some SnapshotHolding) { watch.add(reader) }

  /// Whether any reader keeps its transaction open.
  package var isKeeping: Bool { watch.kept.load(ordering: .relaxed) > 0 }

  /// Ends the transactions that idle readers keep open. On return, only readers in use have one.
  ///
  /// Cost if none is kept: one atomic load.
  public func endIdle() {
    if isKeeping { watch.endIdle(unlessUsed: false) }
  }

  /// Records that a transaction stays open.
  ///
  /// - Returns: whether it may; `false` if no thread could be started.
  func willKeep() -> Bool {
    watch.kept.wrappingAdd(1, ordering: .relaxed)  // First, so that the thread finds it whenever it looks.
    guard watch.wake() else {
      didEnd()
      return false
    }
    return true
  }

  /// Records that a kept transaction has ended.
  func didEnd() { watch.kept.wrappingSubtract(1, ordering: .relaxed) }
}

/// A keeper's thread and the readers that it looks after.
///
/// `@unchecked Sendable`: the lock of `monitor` guards the state.
final class SnapshotWatch: @unchecked Sendable {
  /// A reader, which it does not keep alive.
  private struct Watched {
    weak let reader: (any SnapshotHolding)?
  }

  /// The number of transactions that idle readers keep open, or that readers in use will leave open.
  let kept = Atomic<Int>(0)
  private let interval: Duration
  private let monitor = Monitor()
  private var watched: [Watched] = []
  private var hasThread = false
  /// Whether the thread waits for the first transaction, without a limit. If it does not, waking it would only cost the time.
  private var isParked = false
  private var isStopped = false

  init(interval: Duration) { self.interval = interval }

  func add(_ reader: some SnapshotHolding) {
    monitor.withLock {
      watched.removeAll { $0.reader == nil }
      watched.append(Watched(reader: reader))
    }
  }

  func endIdle(unlessUsed: Bool) {
    for one in monitor.withLock({ watched }) { one.reader?.endKeptSnapshot(unlessUsed: unlessUsed) }
  }

  /// Has the thread look one interval from now, and starts it if necessary.
  ///
  /// - Returns: `false` if no thread could be started.
  func wake() -> Bool {
    monitor.withLock {
      if !hasThread {
        hasThread = SystemThread.startDetached { while self.waitUntilDue() { self.endIdle(unlessUsed: true) } }
      }
      if isParked { monitor.signal() }
      return hasThread
    }
  }

  /// Ends the thread, after what it is doing.
  func stop() {
    monitor.withLock {
      isStopped = true
      monitor.signal()
    }
  }

  /// Waits until a transaction is kept, and then for the interval.
  ///
  /// - Returns: `false` after `stop()`.
  private func waitUntilDue() -> Bool {
    monitor.withLock {
      isParked = true
      while kept.load(ordering: .relaxed) == 0, !isStopped { monitor.wait() }
      isParked = false
      let end = Monitor.deadline(after: interval)
      while !isStopped, monitor.wait(until: end) {}
      return !isStopped
    }
  }
}
