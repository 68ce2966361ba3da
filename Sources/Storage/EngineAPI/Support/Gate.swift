public import Synchronization

/// Admits any number of threads at once, or a single one: a readers-writer lock whose readers share nothing that they
/// write.
///
/// Each thread counts itself in its own slot, so that readers do not slow each other down; the sum of all slots is
/// the number of threads inside. A thread that waits to be alone overtakes others, so that a stream of reads cannot
/// starve it. Therefore no thread must enter twice. Entering and leaving cost an atomic addition each, being alone
/// about a hundred nanoseconds.
public final class Gate: Sendable {
  @usableFromInline let inside = ThreadSlots()
  @usableFromInline let isShut = Atomic<Bool>(false)
  private let monitor = Monitor()

  /// A gate with no thread inside.
  public init() {}

  /// Waits while another thread is alone, then enters until `leave()`.
  @inlinable @inline(__always)
  public func enter() {
    let slot = ThreadSlots.own
    inside[slot].wrappingAdd(1, ordering: .sequentiallyConsistent)
    if isShut.load(ordering: .sequentiallyConsistent) { waitAndEnter(after: slot) }
  }

  /// Leaves the gate.
  @inlinable @inline(__always)
  public func leave() { leave(ThreadSlots.own) }

  @inlinable @inline(__always)
  func leave(_ slot: Int) {
    inside[slot].wrappingSubtract(1, ordering: .sequentiallyConsistent)
    if isShut.load(ordering: .sequentiallyConsistent) { signal() }
  }

  /// Calls `body` while no other thread is inside.
  public func alone<Output, Failure: Error>(_ body: () throws(Failure) -> Output) throws(Failure) -> Output {
    monitor.withLock {
      while isShut.load(ordering: .relaxed) { monitor.wait() }
      isShut.store(true, ordering: .sequentiallyConsistent)
      while !isEmpty { monitor.wait() }
    }
    defer {
      monitor.withLock {
        isShut.store(false, ordering: .sequentiallyConsistent)
        monitor.signalAll()
      }
    }
    return try body()
  }

  /// Whether no thread is inside; called while the gate is shut.
  ///
  /// No thread that is inside is missed: it counted before the gate was shut. One that finds the gate shut can count
  /// for a moment. It subtracts that from the same slot: otherwise a sum that saw only the subtraction would hide
  /// another thread.
  private var isEmpty: Bool {
    var sum: UInt = 0
    for slot in 0..<ThreadSlots.count { sum &+= inside[slot].load(ordering: .sequentiallyConsistent) }
    return sum == 0
  }

  /// Tells the thread that waits to be alone, or is, that another one has left.
  @inline(never)
  @usableFromInline func signal() { monitor.withLock { monitor.signalAll() } }

  /// Takes back what the caller, who found the gate shut, has added to `slot`; then waits and enters.
  @inline(never)
  @usableFromInline func waitAndEnter(after slot: Int) {
    leave(slot)
    monitor.withLock { while isShut.load(ordering: .relaxed) { monitor.wait() } }
    enter()
  }
}

/// A number for each thread, so far apart in memory that threads do not slow each other down: what a processor writes
/// for one thread, the others need not fetch. If there are many threads, some share a number.
public struct ThreadSlots: ~Copyable, Sendable {
  /// The number of slots.
  @inlinable public static var count: Int { 16 }

  /// Two lines of the processor's cache, because processors fetch them in pairs.
  @usableFromInline struct Slot: ~Copyable, Sendable {
    @usableFromInline let value = Atomic<UInt>(0)
    let padding = InlineArray<15, UInt>(repeating: 0)

    @usableFromInline init() {}
  }

  @usableFromInline let slots: InlineArray<16, Slot>

  /// Slots that hold 0.
  @inlinable public init() { slots = InlineArray { _ in Slot() } }

  /// The slot of the calling thread.
  @inlinable @inline(__always)
  public static var own: Int { SystemThread.number & (count - 1) }

  /// The number in the slot `index`, which is below `count`.
  @inlinable
  public subscript(index: Int) -> Atomic<UInt> {
    @inline(__always) _read { yield slots[index].value }
  }
}
