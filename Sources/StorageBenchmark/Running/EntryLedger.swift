internal import Synchronization

/// Which version of each entry a store must hold: what was written to it, and what is being written.
///
/// An entry is written by one worker at a time. Then a reader needs two numbers to judge what it got, the version that
/// was committed before it began and the one whose writing had begun when it ended, and both are in one word that is
/// read at once. A worker that wants an entry which another is writing takes the next one instead; that is rare, and
/// serves the measurement: two writes of one entry at once would say more about luck than about an engine.
///
/// `@unchecked` because of the pointer: it is set once, points to atomics only, and is freed when nobody holds the
/// ledger any more.
final class EntryLedger: @unchecked Sendable {
  /// How many entries there may be.
  let capacity: Int

  /// The committed version in the upper half, the begun one in the lower; 0 where there is none.
  private let cells: UnsafeMutablePointer<Atomic<UInt64>>
  private let reserved = Atomic<Int>(0)
  private let acknowledged = Atomic<Int>(0)
  private let hasExpired = Atomic<Bool>(false)

  /// A ledger of a store without entries. It takes eight bytes for each that there may be.
  init(capacity: Int) {
    self.capacity = capacity
    cells = .allocate(capacity: capacity)
    for index in 0..<capacity { (cells + index).initialize(to: Atomic(0)) }
  }

  deinit {
    cells.deinitialize(count: capacity)
    cells.deallocate()
  }

  /// The number of entries of which each is committed: all those below it.
  var count: Int { acknowledged.load(ordering: .acquiring) }

  /// Whether expired entries must be gone.
  var isCompacted: Bool { hasExpired.load(ordering: .acquiring) }

  /// Notes that the expired entries must be gone from now on.
  func noteCompaction() { hasExpired.store(true, ordering: .releasing) }

  /// Notes that the first `count` entries are committed, and that the next to be inserted comes behind them.
  func noteLoad(count: Int) {
    reserved.store(count, ordering: .releasing)
    acknowledged.store(count, ordering: .releasing)
  }

  /// The version that a read which begins now must see, or a later one; 0 where there need be none.
  @inline(__always)
  func committed(_ number: Int) -> UInt32 { UInt32(truncatingIfNeeded: load(number) >> 32) }

  /// The latest version that a read which ends now can have seen.
  @inline(__always)
  func begun(_ number: Int) -> UInt32 { UInt32(truncatingIfNeeded: load(number)) }

  /// Begins to write the entry: its new version, or `nil` if another worker is writing it.
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

  /// Notes that the version, which `beginWrite` gave, is committed.
  func endWrite(_ number: Int, _ version: UInt32) {
    cells[number].store(UInt64(version) << 32 | UInt64(version), ordering: .releasing)
  }

  /// The number of an entry that nobody else inserts; `nil` if there may be no more.
  func reserveInsertion() -> Int? {
    let number = reserved.wrappingAdd(1, ordering: .relaxed).oldValue
    return number < capacity ? number : nil
  }

  /// Counts the entries that have been committed since, so that readers may ask for them.
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
