internal import EngineSupport
internal import Glibc
internal import StorageSPI

/// A thread for one worker of a benchmark: an executor that the worker's task prefers.
///
/// Swift's cooperative pool has as many threads as there are processors, and all tasks share them: eight workers would
/// be two on a small machine, and an engine with a blocking call would hold up the others. `nonisolated(nonsending)`
/// functions run on their caller's executor, and the rest of a call runs on the executor of its task. So everything
/// that an engine does for a worker without leaving its task is done on this thread.
///
/// `@unchecked` because of the pointers: they are set once, and what they point to is made for use by several threads;
/// the list of jobs is accessed only with the lock held.
final class WorkerThread: TaskExecutor, @unchecked Sendable {
  private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var jobs: [UnownedJob] = []
  private var isStopped = false

  /// Starts a thread that runs until `stop()`.
  ///
  /// - Throws: `CacheError` with the code `failed` if the system has no more threads.
  init() throws(CacheError) {
    lock.initialize(to: pthread_mutex_t())
    condition.initialize(to: pthread_cond_t())
    pthread_mutex_init(lock, nil)
    pthread_cond_init(condition, nil)
    guard DetachedThread.start({ self.runJobs() }) else {
      throw CacheError(.failed, "no more threads can be started", hint: "ask for fewer threads")
    }
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(lock)
    condition.deallocate()
    lock.deallocate()
  }

  /// Runs `job` after all earlier jobs.
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    pthread_mutex_lock(lock)
    jobs.append(job)
    pthread_cond_signal(condition)
    pthread_mutex_unlock(lock)
  }

  /// Ends the thread once it has no more jobs.
  func stop() {
    pthread_mutex_lock(lock)
    isStopped = true
    pthread_cond_signal(condition)
    pthread_mutex_unlock(lock)
  }

  private func runJobs() {
    while let jobs = takeJobs() {
      for job in jobs { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
  }

  /// Waits for a job and takes all that are queued; `nil` if the thread should end.
  private func takeJobs() -> [UnownedJob]? {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    while jobs.isEmpty, !isStopped { pthread_cond_wait(condition, lock) }
    defer { jobs = [] }
    return jobs.isEmpty ? nil : jobs
  }
}
