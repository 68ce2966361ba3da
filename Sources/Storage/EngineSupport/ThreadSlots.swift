public import Platform
public import Synchronization

/// A number for each thread, so far apart in memory that threads do not slow each other down: what a processor writes
/// for one thread, the others need not fetch. Where there are many threads, some share a number.
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
