/// Decides for one reader whether its read transaction stays open while nobody uses it, and keeps account of it.
///
/// To begin a read transaction costs more than to find out that nothing has changed since the last one: a reader that
/// has seen the same state `requiredEqualStates` times in a row leaves its transaction open, and goes on using it for as
/// long as the store's change count is that of the transaction. A reader of a store that changes often never does.
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
  /// After so many snapshots of one state in a row the last one is kept.
  public static let requiredEqualStates = 8

  /// Whether the transaction is open though nobody uses it.
  public private(set) var isOpen = false

  @usableFromInline let keeper: SnapshotKeeper
  @usableFromInline var state: UInt64?
  @usableFromInline var equalStates = 0
  @usableFromInline var wasUsed = false

  /// The account of a reader that has no transaction open. `keeper` is the one of its store.
  public init(_ keeper: SnapshotKeeper) { self.keeper = keeper }

  deinit { if isOpen { keeper.didEnd() } }

  /// Whether the transaction is kept open and sees the latest state, so that it is used as it is.
  ///
  /// - Parameter state: the store's change count as it is now; `nil` where it cannot be told.
  @inlinable @inline(__always)
  public mutating func isCurrent(_ state: UInt64?) -> Bool {
    guard isOpen, let state, state == self.state else { return false }
    wasUsed = true
    return true
  }

  /// Notes that a transaction was begun.
  ///
  /// - Parameter state: the change count of the state that it sees; `nil` where it cannot be told.
  @inlinable @inline(__always)
  public mutating func began(at state: UInt64?) {
    equalStates = state != nil && state == self.state ? equalStates + 1 : 1
    self.state = state
  }

  /// Whether the transaction, which has just been used, stays open. Where it does not, the reader ends it at once.
  @inlinable @inline(__always)
  public mutating func stays() -> Bool { isOpen || (equalStates >= Self.requiredEqualStates && open()) }

  /// Notes that the reader has ended a transaction that was kept open.
  public mutating func ended() {
    guard isOpen else { return }
    isOpen = false
    equalStates = 0
    keeper.didEnd()
  }

  /// Whether an idle reader is to end its transaction now.
  ///
  /// - Parameter unlessUsed: whether a transaction stays open that was used since this was asked last.
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
  /// Ends the transaction, if it is open and `KeptSnapshot.isDue` says so. The reader is idle, and stays so meanwhile.
  func endKeptSnapshot(unlessUsed: Bool)
}
