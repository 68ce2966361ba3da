internal import Glibc

/// Lets any number of transactions through at once, or one change of the memory map alone: LMDB moves its map when its
/// size is set, which no transaction of the process survives.
///
/// A thread that waits to be alone goes first, so that steady reading cannot keep it out; so no thread may enter twice.
///
/// `@unchecked Sendable`: the only state is a POSIX lock, made for being used by many threads, at an address that does
/// not change.
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

  /// Waits while another thread is alone; then counts as one of many until `leave()`, on the same thread.
  func enter() { pthread_rwlock_rdlock(lock) }

  /// Ends what `enter()` began.
  func leave() { pthread_rwlock_unlock(lock) }

  /// Calls `body` while nobody else is inside.
  func alone<Output, Failure: Error>(_ body: () throws(Failure) -> Output) throws(Failure) -> Output {
    pthread_rwlock_wrlock(lock)
    defer { pthread_rwlock_unlock(lock) }
    return try body()
  }
}
