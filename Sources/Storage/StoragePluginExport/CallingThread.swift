internal import Platform
internal import StorageSPI
internal import Synchronization

/// Runs an asynchronous call to its end on the thread that waits for it, except for parts with an executor of their
/// own. It uses no thread pool, so any number of calls can wait without blocking each other.
///
/// Cost: about half a microsecond if the call does not suspend.
final class CallingThread: TaskExecutor {
  /// The parts of the call that are ready to run.
  private let jobs = Mutex<[UnownedJob]>([])
  private let available = Semaphore()

  /// Runs `call` and returns its result. It cancels the call's task when `host` reports that the call is cancelled.
  ///
  /// - Throws: what `call` throws.
  static func run<Output: Sendable>(
    _ host: HostCall, _ call: @escaping @Sendable () async throws(CacheError) -> Output
  ) throws(CacheError) -> Output {
    let thread = CallingThread()
    let outcome = Outcome<Output>()
    let task = Task.detached(executorPreference: thread) {
      do throws(CacheError) {
        outcome.set(.success(try await call()))
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

  /// Accepts a part of the call that is ready to run.
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
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
    let job = jobs.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    job?.runSynchronously(on: asUnownedTaskExecutor())
  }
}

/// The result of a call, once it has ended.
private final class Outcome<Output: Sendable>: Sendable {
  private let state = Mutex<Result<Output, CacheError>?>(nil)

  var result: Result<Output, CacheError>? { state.withLock { $0 } }

  func set(_ result: Result<Output, CacheError>) { state.withLock { $0 = result } }
}

/// A semaphore. (POSIX's own is missing on macOS.)
///
/// `@unchecked Sendable`: the count is accessed only with the lock of `monitor` held.
private final class Semaphore: @unchecked Sendable {
  private let monitor = Monitor()
  private var count = 0

  func signal() {
    monitor.withLock {
      count += 1
      monitor.signal()
    }
  }

  func wait() {
    monitor.withLock {
      while count == 0 { monitor.wait() }
      count -= 1
    }
  }

  /// Waits for at most a twentieth of a second, and returns whether it was signalled.
  func waitBriefly() -> Bool {
    let end = Monitor.deadline(after: .milliseconds(50))
    return monitor.withLock {
      while count == 0, monitor.wait(until: end) {}
      guard count > 0 else { return false }
      count -= 1
      return true
    }
  }
}
