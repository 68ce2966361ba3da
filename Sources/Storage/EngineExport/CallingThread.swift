internal import CacheBase
internal import EngineAPI

/// Runs an asynchronous call to its end on the thread that waits for it, except for parts with an executor of their
/// own. It uses no thread pool, so any number of calls can wait without blocking each other.
///
/// Cost: about half a microsecond if the call does not suspend.
///
/// `@unchecked Sendable`: the jobs are accessed only with the lock of `monitor` held.
final class CallingThread: TaskExecutor, @unchecked Sendable {
  private let monitor = Monitor()
  /// The parts of the call that are ready to run.
  private var jobs: [UnownedJob] = []
  private var hasEnded = false

  /// Runs `call` and returns its result.
  ///
  /// - Throws: `CacheError`: the error of `call`.
  static func run<Output: Sendable>(
    _ call: @escaping @Sendable () async throws(CacheError) -> Output
  ) throws(CacheError) -> Output {
    let thread = CallingThread()
    // Written before the call is marked as ended, and read after that.
    nonisolated(unsafe) var result = Result<Output, CacheError>.failure(CacheError(.failed, "the call has no result"))
    Task.detached(executorPreference: thread) {
      do throws(CacheError) {
        result = .success(try await call())
      } catch {
        result = .failure(error)
      }
      // It might have ended on any thread, so wake the waiting one.
      thread.monitor.withLock {
        thread.hasEnded = true
        thread.monitor.signal()
      }
    }
    while let job = thread.next() { job.runSynchronously(on: thread.asUnownedTaskExecutor()) }
    return try result.get()
  }

  /// Accepts a part of the call that is ready to run.
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    monitor.withLock {
      jobs.append(job)
      monitor.signal()
    }
  }

  /// The next part to run; `nil` after the end of the call.
  private func next() -> UnownedJob? {
    monitor.withLock {
      while jobs.isEmpty, !hasEnded { monitor.wait() }
      return jobs.isEmpty ? nil : jobs.removeFirst()
    }
  }
}
