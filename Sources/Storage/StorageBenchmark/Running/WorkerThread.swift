internal import EngineSupport
internal import Platform
internal import StorageSPI

/// A thread for one worker of a benchmark: an executor that the worker's task prefers.
///
/// Swift's cooperative pool has as many threads as there are processors, and all tasks share them: eight workers would
/// be two on a small machine, and an engine with a blocking call would hold up the others. `nonisolated(nonsending)`
/// functions run on their caller's executor, and the rest of a call runs on the executor of its task. So everything
/// that an engine does for a worker without leaving its task is done on this thread.
///
/// `@unchecked`: the list of jobs is accessed only with the lock of `monitor` held.
final class WorkerThread: TaskExecutor, @unchecked Sendable {
  private let monitor = Monitor()
  private var jobs: [UnownedJob] = []
  private var isStopped = false

  /// Starts a thread that runs until `stop()`.
  ///
  /// - Throws: `CacheError` with the code `failed` if the system has no more threads.
  init() throws(CacheError) {
    guard DetachedThread.start({ self.runJobs() }) else {
      throw CacheError(.failed, "no more threads can be started", hint: "ask for fewer threads")
    }
  }

  /// Runs `job` after all earlier jobs.
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    monitor.withLock {
      jobs.append(job)
      monitor.signal()
    }
  }

  /// Ends the thread once it has no more jobs.
  func stop() {
    monitor.withLock {
      isStopped = true
      monitor.signal()
    }
  }

  private func runJobs() {
    while let jobs = takeJobs() {
      for job in jobs { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
  }

  /// Waits for a job and takes all that are queued; `nil` if the thread should end.
  private func takeJobs() -> [UnownedJob]? {
    monitor.withLock {
      while jobs.isEmpty, !isStopped { monitor.wait() }
      defer { jobs = [] }
      return jobs.isEmpty ? nil : jobs
    }
  }
}
