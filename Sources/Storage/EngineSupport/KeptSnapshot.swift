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

/// A reader whose read transaction may stay open while the reader is idle in a `ResourcePool`.
public protocol SnapshotHolding: AnyObject, Sendable {
  /// Ends the transaction if it is open and `KeptSnapshot.isDue` says so. The reader stays idle during the call.
  func endKeptSnapshot(unlessUsed: Bool)
}
