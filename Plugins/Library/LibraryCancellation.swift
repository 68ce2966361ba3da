internal import EngineSupport
internal import Glibc
internal import StorageSPI
internal import Synchronization

/// Whether the task that waits for a library call is cancelled. The library asks on the thread of the call.
final class LibraryCancellation: Sendable {
  private let isCancelled = Atomic<Bool>(false)

  /// The thread-specific key for the flag of the thread's call; `nil` if the system had no key left.
  private static let threadKey: pthread_key_t? = {
    var key = pthread_key_t()
    return pthread_key_create(&key, nil) == 0 ? key : nil
  }()

  /// Whether the task that waits for this thread's current call is cancelled.
  static var isOfThisThread: Bool {
    guard let key = threadKey, let current = pthread_getspecific(key) else { return false }
    return Unmanaged<LibraryCancellation>.fromOpaque(current).takeUnretainedValue()
      .isCancelled.load(ordering: .relaxed)
  }

  /// Runs `work`, which calls a library, on a thread of `executor`. If the task is cancelled, the work continues until
  /// the library notices.
  static func run<Output: Sendable>(
    on executor: BlockingExecutor, _ work: @escaping @Sendable () throws(CacheError) -> Output
  ) async throws(CacheError) -> Output {
    let cancellation = LibraryCancellation()
    let result = await withTaskCancellationHandler { () async -> Result<Output, CacheError> in
      do throws(CacheError) {
        return .success(try await executor.run { () throws(CacheError) in try cancellation.during(work) })
      } catch {
        return .failure(error)
      }
    } onCancel: {
      cancellation.isCancelled.store(true, ordering: .relaxed)
    }
    return try result.get()
  }

  private func during<Output>(_ work: () throws(CacheError) -> Output) throws(CacheError) -> Output {
    guard let key = Self.threadKey else { return try work() }
    pthread_setspecific(key, Unmanaged.passUnretained(self).toOpaque())
    defer { pthread_setspecific(key, nil) }
    return try work()
  }
}
