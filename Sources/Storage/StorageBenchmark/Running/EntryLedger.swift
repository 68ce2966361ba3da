internal import Synchronization

/// The version of each entry that a store must contain: what was written to it, and what is being written.
///
/// One worker at a time writes an entry. So a reader needs only two numbers to judge its result: the version that was
/// committed before the read began, and the one whose writing had begun when the read ended. Both are in one word, read
/// at once. A worker that wants an entry that another is writing takes the next one instead. That is rare, and good for
/// the measurement: concurrent writes of one entry would say more about luck than about an engine.
///
/// `@unchecked` because of the pointer: it is set once, points only to atomics, and is freed with the ledger.
final class EntryLedger: @unchecked Sendable {
  /// The maximum number of entries.
  let capacity: Int

  /// The committed version in the upper half, the begun one in the lower; 0 if there is none.
  private let cells: UnsafeMutablePointer<Atomic<UInt64>>
  private let reserved = Atomic<Int>(0)
  private let acknowledged = Atomic<Int>(0)
  private let hasExpired = Atomic<Bool>(false)

  /// A ledger for a store without entries. Takes eight bytes per possible entry.
  init(capacity: Int) {
    self.capacity = capacity
    cells = .allocate(capacity: capacity)
    for index in 0..<capacity { (cells + index).initialize(to: Atomic(0)) }
  }

  deinit {
    cells.deinitialize(count: capacity)
    cells.deallocate()
  }

  /// The number of entries up to which all are committed.
  var count: Int { acknowledged.load(ordering: .acquiring) }

  /// Whether expired entries must be gone.
  var isCompacted: Bool { hasExpired.load(ordering: .acquiring) }

  /// Records that expired entries must be gone from now on.
  func noteCompaction() { hasExpired.store(true, ordering: .releasing) }

  /// Records that the first `count` entries are committed; insertions follow them.
  func noteLoad(count: Int) {
    reserved.store(count, ordering: .releasing)
    acknowledged.store(count, ordering: .releasing)
  }

  /// The version that a read which begins now must see, or a later one; 0 if the entry need not exist.
  @inline(__always)
  func committed(_ number: Int) -> UInt32 { UInt32(truncatingIfNeeded: load(number) >> 32) }

  /// The latest version that a read which ends now can have seen.
  @inline(__always)
  func begun(_ number: Int) -> UInt32 { UInt32(truncatingIfNeeded: load(number)) }

  /// Begins to write the entry, and returns its new version; `nil` if another worker is writing the entry.
  func beginWrite(_ number: Int) -> UInt32? {
    let current = load(number)
    let version = UInt32(truncatingIfNeeded: current)
    guard UInt32(truncatingIfNeeded: current >> 32) == version else { return nil }
    let next = version &+ 1
    let isMine = cells[number].compareExchange(
      expected: current, desired: UInt64(version) << 32 | UInt64(next), ordering: .acquiringAndReleasing
    ).exchanged
    return isMine ? next : nil
  }

  /// Records that the version from `beginWrite` is committed.
  func endWrite(_ number: Int, _ version: UInt32) {
    cells[number].store(UInt64(version) << 32 | UInt64(version), ordering: .releasing)
  }

  /// Reserves the number of a new entry for the caller; `nil` if there is no room for more.
  func reserveInsertion() -> Int? {
    let number = reserved.wrappingAdd(1, ordering: .relaxed).oldValue
    return number < capacity ? number : nil
  }

  /// Counts the entries committed since the last call, so that readers may choose them.
  func acknowledgeInsertions() {
    var number = count
    while number < capacity, committed(number) > 0 {
      let (exchanged, original) = acknowledged.compareExchange(
        expected: number, desired: number + 1, ordering: .acquiringAndReleasing)
      number = exchanged ? number + 1 : original
    }
  }

  @inline(__always)
  private func load(_ number: Int) -> UInt64 { cells[number].load(ordering: .acquiring) }
}
