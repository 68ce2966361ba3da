internal import Glibc
internal import StorageSPI
internal import Synchronization

/// Runs an asynchronous call to its end on the thread that waits for it, every part of it that has no executor of its
/// own. No thread of a pool takes part, so that any number of calls can wait without waiting for each other.
///
/// Cost: about half a microsecond where the call does not suspend.
final class CallingThread: TaskExecutor {
  private enum Work {
    /// A part of the call that can go on.
    case job(UnownedJob)
    /// Something that another thread waits for.
    case request(@Sendable () -> Void)
  }

  private let work = Mutex<[Work]>([])
  private let available = Semaphore()
  private let thread = pthread_self()

  /// Returns what `call` returns. Its task is cancelled when `host` says so of this call.
  ///
  /// - Throws: what `call` throws.
  static func run<Output: Sendable>(
    _ host: HostCall, _ call: @escaping @Sendable (CallingThread) async throws(StorageError) -> Output
  ) throws(StorageError) -> Output {
    let thread = CallingThread()
    let outcome = Outcome<Output>()
    let task = Task.detached(executorPreference: thread) {
      do throws(StorageError) {
        outcome.set(.success(try await call(thread)))
      } catch {
        outcome.set(.failure(error))
      }
      // Wherever it ended: the thread looks.
      thread.available.signal()
    }
    while true {
      thread.waitForWork(host, task)
      thread.doNext()
      if let result = outcome.result { return try result.get() }
    }
  }

  /// Calls `body` on this thread, and returns when it has returned, on whichever thread this is called.
  func perform(_ body: @escaping @Sendable () -> Void) {
    if pthread_equal(thread, pthread_self()) != 0 { return body() }
    let done = Semaphore()
    add(
      .request {
        body()
        done.signal()
      })
    done.wait()
  }

  /// Takes a part of the call that can go on.
  func enqueue(_ job: consuming ExecutorJob) { add(.job(UnownedJob(job))) }

  private func add(_ piece: Work) {
    work.withLock { $0.append(piece) }
    available.signal()
  }

  private func waitForWork(_ host: HostCall, _ task: Task<Void, Never>) {
    while host.canBeCancelled, !task.isCancelled {
      if available.waitBriefly() { return }
      if host.isCancelled { task.cancel() }
    }
    available.wait()
  }

  private func doNext() {
    switch work.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
    case .job(let job): job.runSynchronously(on: asUnownedTaskExecutor())
    case .request(let body): body()
    case nil: break
    }
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

  /// Waits for a twentieth of a second at most, and says whether it was signalled. (It lasts longer where the clock is set
  /// back meanwhile.)
  func waitBriefly() -> Bool {
    var end = timespec()
    clock_gettime(CLOCK_REALTIME, &end)
    end.tv_nsec += 50_000_000
    if end.tv_nsec >= 1_000_000_000 { (end.tv_sec, end.tv_nsec) = (end.tv_sec + 1, end.tv_nsec - 1_000_000_000) }
    while sem_timedwait(semaphore, &end) != 0 { if errno != EINTR { return false } }
    return true
  }
}
