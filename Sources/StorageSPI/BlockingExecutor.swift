internal import Dispatch

/// Runs calls that block (a disk's fsync, a network's answer) on a thread of their own, one after another, so that they
/// keep no thread of the cooperative pool.
///
/// Cost: two thread switches a call, some microseconds; an engine uses it only where it really waits.
public struct BlockingExecutor: Sendable {
  private let queue: DispatchQueue

  /// An executor with a thread of its own while it has work.
  ///
  /// - Parameter label: what debuggers call it.
  public init(label: String) {
    queue = DispatchQueue(label: label)
  }

  /// Runs `work` after all that was given before, and returns what it returns.
  ///
  /// - Throws: what `work` throws.
  public func run<Output: Sendable>(
    _ work: @escaping @Sendable () throws(StorageError) -> Output
  ) async throws(StorageError) -> Output {
    let result: Result<Output, StorageError> = await withCheckedContinuation { continuation in
      queue.async {
        continuation.resume(returning: Result { () throws(StorageError) -> Output in try work() })
      }
    }
    return try result.get()
  }
}
