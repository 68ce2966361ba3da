internal import Synchronization

/// Runs blocking calls (a disk's fsync, a server's response) one after another on its own thread, so that they do
/// not block a thread of the cooperative pool.
///
/// The thread lives only while there is work. A call costs about 20 microseconds, so an engine uses the executor only
/// for calls that really wait. (It is not a Dispatch queue because Dispatch's module also declares `struct stat`, which
/// engines need from Glibc: which of the two wins then depends on the build order.)
public final class BlockingExecutor: Sendable {
  private struct State {
    var jobs: [@Sendable () -> Void] = []
    var hasThread = false
  }

  private let state = Mutex(State())
  /// Makes the effects of a job visible to the task that waits for it. A continuation does that by itself, but if it is
  /// resumed before it is awaited, the runtime does not tell the thread sanitizer.
  private let published = Atomic<UInt>(0)

  /// An executor without work.
  public init() {}

  /// Runs `work` after all work submitted before it, and returns its result.
  ///
  /// - Throws: what `work` throws.
  public func run<Output: Sendable>(
    _ work: @escaping @Sendable () throws(CacheError) -> Output
  ) async throws(CacheError) -> Output {
    let result: Result<Output, CacheError> = await withCheckedContinuation { continuation in
      add {
        let result = Result { () throws(CacheError) -> Output in try work() }
        self.published.add(1, ordering: .releasing)
        continuation.resume(returning: result)
      }
    }
    _ = published.load(ordering: .acquiring)
    return try result.get()
  }

  private func add(_ job: @escaping @Sendable () -> Void) {
    let needsThread = state.withLock { state in
      state.jobs.append(job)
      defer { state.hasThread = true }
      return !state.hasThread
    }
    // If no thread can be started, the caller does the work: that blocks other tasks, but it gets done.
    if needsThread, !SystemThread.startDetached({ self.doJobs() }) { doJobs() }
  }

  private func doJobs() {
    while let jobs = takeJobs() {
      for job in jobs { job() }
    }
  }

  /// All waiting jobs; `nil` if there are none, and then the thread ends.
  private func takeJobs() -> [@Sendable () -> Void]? {
    state.withLock { state in
      defer { state.jobs = [] }
      state.hasThread = !state.jobs.isEmpty
      return state.hasThread ? state.jobs : nil
    }
  }
}
