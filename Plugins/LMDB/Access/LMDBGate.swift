internal import EngineSupport
internal import Platform
internal import Synchronization

/// Admits any number of transactions at once, or a single change of the memory map. LMDB moves its map when the size is
/// set, which no transaction of the process survives.
///
/// Each thread counts itself in a slot of its own, so that readers do not slow each other down; the sum of all slots is
/// the number of threads inside. A thread that waits to be alone goes first, so that a stream of reads cannot starve it.
/// Therefore no thread may enter twice.
final class LMDBGate: Sendable {
  private let inside = ThreadSlots()
  private let isShut = Atomic<Bool>(false)
  private let monitor = Monitor()

  /// Waits while another thread is alone, then enters until `leave()`.
  @inline(__always)
  func enter() {
    let slot = ThreadSlots.own
    inside[slot].wrappingAdd(1, ordering: .sequentiallyConsistent)
    if isShut.load(ordering: .sequentiallyConsistent) { waitAndEnter(after: slot) }
  }

  /// Leaves the gate.
  @inline(__always)
  func leave() { leave(ThreadSlots.own) }

  @inline(__always)
  private func leave(_ slot: Int) {
    inside[slot].wrappingSubtract(1, ordering: .sequentiallyConsistent)
    if isShut.load(ordering: .sequentiallyConsistent) { monitor.withLock { monitor.signalAll() } }
  }

  /// Calls `body` while no other thread is inside.
  func alone<Output, Failure: Error>(_ body: () throws(Failure) -> Output) throws(Failure) -> Output {
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
  /// No thread that is inside is missed: it counted before the gate was shut. One that finds the gate shut may count for
  /// a moment, and takes that off where it was added: a sum that saw only the second half would hide another thread.
  private var isEmpty: Bool {
    var sum: UInt = 0
    for slot in 0..<ThreadSlots.count { sum &+= inside[slot].load(ordering: .sequentiallyConsistent) }
    return sum == 0
  }

  /// Takes back what the caller, who found the gate shut, has added to `slot`; then waits and enters.
  @inline(never)
  private func waitAndEnter(after slot: Int) {
    leave(slot)
    monitor.withLock { while isShut.load(ordering: .relaxed) { monitor.wait() } }
    enter()
  }
}
