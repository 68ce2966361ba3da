internal import Glibc
internal import StorageSPI
internal import Synchronization

/// Runs an asynchronous call to its end on the thread that waits for it, every part of it that has no executor of its
/// own. No thread of a pool takes part, so that any number of calls can wait without waiting for each other.
///
/// Cost: about half a microsecond where the call does not suspend.
final class CallingThread: TaskExecutor {
  private let jobs = Mutex<[UnownedJob]>([])
  private let available = Semaphore()

  /// Returns what `call` returns.
  ///
  /// - Throws: what `call` throws.
  static func run<Output: Sendable>(
    _ call: @escaping @Sendable () async throws(StorageError) -> Output
  ) throws(StorageError) -> Output {
    let thread = CallingThread()
    let outcome = Outcome<Output>()
    Task.detached(executorPreference: thread) {
      do throws(StorageError) {
        outcome.set(.success(try await call()))
      } catch {
        outcome.set(.failure(error))
      }
    }
    while true {
      thread.runNextJob()
      if let result = outcome.result { return try result.get() }
    }
  }

  /// Takes a part of the call that can go on.
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
    available.signal()
  }

  private func runNextJob() {
    available.wait()
    let job = jobs.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    job?.runSynchronously(on: asUnownedTaskExecutor())
  }
}

/// How a call ended, once it has.
private final class Outcome<Output: Sendable>: Sendable {
  private let state = Mutex<Result<Output, StorageError>?>(nil)

  var result: Result<Output, StorageError>? { state.withLock { $0 } }

  func set(_ result: Result<Output, StorageError>) { state.withLock { $0 = result } }
}

/// A counter that a thread can wait for.
///
/// `@unchecked Sendable`: the functions of POSIX semaphores may be called by any thread, and only `deinit`, which comes
/// after all other uses, frees it.
private final class Semaphore: @unchecked Sendable {
  private let semaphore: UnsafeMutablePointer<sem_t>

  init() {
    semaphore = .allocate(capacity: 1)
    // It only fails for numbers that are too large, and for processes that share one.
    sem_init(semaphore, 0, 0)
  }

  deinit {
    sem_destroy(semaphore)
    semaphore.deallocate()
  }

  func signal() { sem_post(semaphore) }

  func wait() {
    while sem_wait(semaphore) != 0 && errno == EINTR {}
  }
}
