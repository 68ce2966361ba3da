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
///     if kept.isOpen { end the transaction; kept.ended() }
public struct KeptSnapshot: ~Copyable {
  /// After this many snapshots of one state in a row, the last one is kept.
  public static let requiredEqualStates = 8

  /// Whether the transaction is open although the reader is idle.
  public private(set) var isOpen = false

  @usableFromInline let keeper: SnapshotKeeper
  @usableFromInline var state: UInt64?
  @usableFromInline var equalStates = 0

  /// The state of a reader with no open transaction. `keeper` is its store's keeper.
  public init(_ keeper: SnapshotKeeper) { self.keeper = keeper }

  deinit { if isOpen { keeper.didEnd() } }

  /// Whether the kept transaction sees the latest state, so that the reader can use it as it is.
  ///
  /// - Parameter state: the store's current change count; `nil` if it is unknown.
  @inlinable @inline(__always)
  public func isCurrent(_ state: UInt64?) -> Bool { isOpen && state != nil && state == self.state }

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
  public mutating func advanced(to state: UInt64) { self.state = state }

  /// Whether the transaction, which has just been used, stays open. If not, the reader ends it at once.
  @inlinable @inline(__always)
  public mutating func stays() -> Bool { isOpen || (equalStates >= Self.requiredEqualStates && open()) }

  /// Records that the reader has ended a kept transaction.
  public mutating func ended() {
    isOpen = false
    equalStates = 0
    keeper.didEnd()
  }

  @usableFromInline mutating func open() -> Bool {
    isOpen = state != nil && keeper.willKeep()
    return isOpen
  }
}

/// A reader whose read transaction can stay open while the reader is idle, or a pool of such readers.
public protocol SnapshotHolding: AnyObject, Sendable {
  /// Ends the transaction if it is open although the reader is idle. The reader stays idle during the call.
  func endKeptSnapshot()
}

extension ResourcePool: SnapshotHolding where Resource: SnapshotHolding {
  /// Ends the transactions of idle readers.
  public func endKeptSnapshot() { forEachIdle { $0.endKeptSnapshot() } }
}

/// Keeps open read transactions from holding back the store for long. While one is open, new data cannot reuse the
/// space of what it sees, and the file grows.
///
/// There is one keeper per store and process. A kept transaction ends
/// - when its reader uses it again and something has changed;
/// - when a writer in this process calls `endIdle()`, which it does before writing;
/// - when the keeper's thread finds it, within `interval`. A reader in use soon keeps its next one.
///
/// The thread runs only while it finds something.
public final class SnapshotKeeper: Sendable {
  /// A reader, which the keeper does not keep alive.
  private struct Reader {
    weak let object: (any SnapshotHolding)?
  }

  private let interval: Duration
  private let readers = Mutex<[Reader]>([])
  /// The number of transactions that idle readers keep open, or that readers in use will leave open.
  private let kept = Atomic<Int>(0)
  private let hasThread = Atomic<Bool>(false)

  /// A keeper with no transactions and no thread yet.
  ///
  /// - Parameter interval: how often the thread ends the transactions of idle readers.
  public init(interval: Duration = .milliseconds(10)) { self.interval = interval }

  /// Also watches `reader`, or the idle readers of a pool, for as long as it lives.
  public func add(_ reader: some SnapshotHolding) {
    readers.withLock { readers in
      readers.removeAll { $0.object == nil }
      readers.append(Reader(object: reader))
    }
  }

  /// Whether any reader keeps its transaction open.
  package var isKeeping: Bool { kept.load(ordering: .sequentiallyConsistent) > 0 }

  /// Ends the transactions that idle readers keep open. On return, only readers in use have one.
  ///
  /// Cost if none is kept: one atomic load.
  public func endIdle() {
    guard isKeeping else { return }
    for reader in readers.withLock({ $0 }) { reader.object?.endKeptSnapshot() }
  }

  /// Records that a transaction stays open. It takes no lock and wakes nobody: where every twentieth call writes, this
  /// happens as often.
  ///
  /// - Returns: whether it can; `false` if no thread could be started.
  func willKeep() -> Bool {
    // First, so that a thread that is about to end finds it, or else has already said that it ends.
    kept.wrappingAdd(1, ordering: .sequentiallyConsistent)
    if hasThread.exchange(true, ordering: .sequentiallyConsistent) { return true }
    if SystemThread.startDetached({ self.watch() }) { return true }
    hasThread.store(false, ordering: .sequentiallyConsistent)
    didEnd()
    return false
  }

  /// Records that a kept transaction has ended.
  func didEnd() { kept.wrappingSubtract(1, ordering: .sequentiallyConsistent) }

  /// The body of the thread: ends kept snapshots until it finds none.
  private func watch() {
    repeat {
      pause()
      while isKeeping {
        endIdle()
        pause()
      }
      hasThread.store(false, ordering: .sequentiallyConsistent)
    } while isKeeping && !hasThread.exchange(true, ordering: .sequentiallyConsistent)
  }

  private func pause() { usleep(UInt32(interval / .microseconds(1))) }
}
