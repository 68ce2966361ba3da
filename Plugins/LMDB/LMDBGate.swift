internal import Glibc

/// Admits any number of transactions at once, or a single change of the memory map. LMDB moves its map when the size is
/// set, which no transaction of the process survives.
///
/// A thread that waits to be alone goes first, so that a stream of reads cannot starve it. Therefore no thread may
/// enter twice.
///
/// `@unchecked Sendable`: the only state is a POSIX lock, which is thread-safe, at an address that does not change.
final class LMDBGate: @unchecked Sendable {
  private let lock = UnsafeMutablePointer<pthread_rwlock_t>.allocate(capacity: 1)

  init() {
    var attributes = pthread_rwlockattr_t()
    pthread_rwlockattr_init(&attributes)
    pthread_rwlockattr_setkind_np(&attributes, Int32(PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP))
    pthread_rwlock_init(lock, &attributes)
    pthread_rwlockattr_destroy(&attributes)
  }

  deinit {
    pthread_rwlock_destroy(lock)
    lock.deallocate()
  }

  /// Waits while another thread is alone, then enters until `leave()` on the same thread.
  func enter() { pthread_rwlock_rdlock(lock) }

  /// Leaves the gate.
  func leave() { pthread_rwlock_unlock(lock) }

  /// Calls `body` while no other thread is inside.
  func alone<Output, Failure: Error>(_ body: () throws(Failure) -> Output) throws(Failure) -> Output {
    pthread_rwlock_wrlock(lock)
    defer { pthread_rwlock_unlock(lock) }
    return try body()
  }
}
