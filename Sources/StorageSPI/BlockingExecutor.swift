internal import Synchronization

/// Runs calls that block (a disk's fsync, a network's answer) on a thread of their own, one after another, so that they
/// keep no thread of the cooperative pool.
///
/// The thread lives while there is work. Cost: some 20 microseconds a call; an engine uses it only where it really
/// waits. (It is no Dispatch queue because Dispatch's module claims `struct stat`, which engines want from Glibc: which
/// of the two declares it then depends on the order of the build.)
public struct BlockingExecutor: Sendable {
  private let worker = Worker()

  /// An executor without work.
  public init() {}

  /// Runs `work` after all that was given before, and returns what it returns.
  ///
  /// - Throws: what `work` throws.
  public func run<Output: Sendable>(
    _ work: @escaping @Sendable () throws(StorageError) -> Output
  ) async throws(StorageError) -> Output {
    let result: Result<Output, StorageError> = await withCheckedContinuation { continuation in
      worker.add {
        let result = Result { () throws(StorageError) -> Output in try work() }
        worker.publish()
        continuation.resume(returning: result)
      }
    }
    worker.observe()
    return try result.get()
  }
}

/// The jobs of an executor, and the thread that does them.
private final class Worker: Sendable {
  private struct State {
    var jobs: [@Sendable () -> Void] = []
    var hasThread = false
  }

  private let state = Mutex(State())
  private let published = Atomic<UInt>(0)

  /// Orders what a job has done before what follows `observe`. A continuation does so by itself, but where it is resumed
  /// before it is awaited, the runtime does not tell the thread sanitizer.
  func publish() { published.add(1, ordering: .releasing) }

  func observe() { _ = published.load(ordering: .acquiring) }

  func add(_ job: @escaping @Sendable () -> Void) {
    let needsThread = state.withLock { state in
      state.jobs.append(job)
      defer { state.hasThread = true }
      return !state.hasThread
    }
    // Without a thread to be had the caller does the work: slower for others, but done.
    if needsThread, !DetachedThread.start({ self.doJobs() }) { doJobs() }
  }

  private func doJobs() {
    while let jobs = takeJobs() {
      for job in jobs { job() }
    }
  }

  /// All jobs that wait; `nil` where there are none, and then the thread ends.
  private func takeJobs() -> [@Sendable () -> Void]? {
    state.withLock { state in
      defer { state.jobs = [] }
      state.hasThread = !state.jobs.isEmpty
      return state.hasThread ? state.jobs : nil
    }
  }
}
