internal import Glibc
internal import StorageSPI
internal import Synchronization

/// Runs an asynchronous call to its end on the thread that waits for it, except for parts with an executor of their
/// own. It uses no thread pool, so any number of calls can wait without blocking each other.
///
/// Cost: about half a microsecond if the call does not suspend.
final class CallingThread: TaskExecutor {
  private enum Work {
    /// A part of the call that is ready to run.
    case job(UnownedJob)
    /// A request that another thread waits for.
    case request(@Sendable () -> Void)
  }

  private let work = Mutex<[Work]>([])
  private let available = Semaphore()
  private let thread = pthread_self()

  /// Runs `call` and returns its result. It cancels the call's task when `host` reports that the call is cancelled.
  ///
  /// - Throws: what `call` throws.
  static func run<Output: Sendable>(
    _ host: HostCall, _ call: @escaping @Sendable (CallingThread) async throws(CacheError) -> Output
  ) throws(CacheError) -> Output {
    let thread = CallingThread()
    let outcome = Outcome<Output>()
    let task = Task.detached(executorPreference: thread) {
      do throws(CacheError) {
        outcome.set(.success(try await call(thread)))
      } catch {
        outcome.set(.failure(error))
      }
      // It may have ended on any thread, so wake the waiting one.
      thread.available.signal()
    }
    while true {
      thread.waitForWork(host, task)
      thread.doNext()
      if let result = outcome.result { return try result.get() }
    }
  }

  /// Runs `body` on this object's thread, and returns when it is done. Any thread may call this.
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

  /// Accepts a part of the call that is ready to run.
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

/// The result of a call, once it has ended.
private final class Outcome<Output: Sendable>: Sendable {
  private let state = Mutex<Result<Output, CacheError>?>(nil)

  var result: Result<Output, CacheError>? { state.withLock { $0 } }

  func set(_ result: Result<Output, CacheError>) { state.withLock { $0 = result } }
}

/// A semaphore.
///
/// `@unchecked Sendable`: any thread may call the functions of POSIX semaphores, and only `deinit`, which runs after
/// all other uses, frees it.
private final class Semaphore: @unchecked Sendable {
  private let semaphore: UnsafeMutablePointer<sem_t>

  init() {
    semaphore = .allocate(capacity: 1)
    // This fails only for numbers that are too large, and for semaphores that processes share.
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

  /// Waits for at most a twentieth of a second, and returns whether it was signalled. (It takes longer if the clock is
  /// set back meanwhile.)
  func waitBriefly() -> Bool {
    var end = timespec()
    clock_gettime(CLOCK_REALTIME, &end)
    end.tv_nsec += 50_000_000
    if end.tv_nsec >= 1_000_000_000 { (end.tv_sec, end.tv_nsec) = (end.tv_sec + 1, end.tv_nsec - 1_000_000_000) }
    while sem_timedwait(semaphore, &end) != 0 { if errno != EINTR { return false } }
    return true
  }
}
