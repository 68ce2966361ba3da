internal import StorageSPI
internal import Synchronization

/// Counts the calls in progress, and lets `close()` wait until they have returned.
///
/// A call costs two atomic additions. Waiting blocks no thread.
final class LibraryGate: Sendable {
  private struct Waiting {
    var isEmpty = false
    var continuations: [CheckedContinuation<Void, Never>] = []
  }

  private static let closed = 1 << 62

  /// The number of calls in progress; closing adds `closed` to it.
  private let calls = Atomic<Int>(0)
  private let waiting = Mutex(Waiting())

  /// Counts a call in, until `leave()`.
  ///
  /// - Throws: `CacheError` with the code `closed` after `close()`.
  @inline(__always)
  func enter() throws(CacheError) {
    if calls.add(1, ordering: .acquiring).newValue > Self.closed { try refuse() }
  }

  /// Counts a call out.
  @inline(__always)
  func leave() {
    if calls.subtract(1, ordering: .acquiringAndReleasing).newValue == Self.closed { reportEmpty() }
  }

  /// Rejects new calls from now on, and waits for those in progress.
  func close() async {
    let before = calls.bitwiseOr(Self.closed, ordering: .acquiringAndReleasing).oldValue
    if before & ~Self.closed == 0 { reportEmpty() }
    await withCheckedContinuation { continuation in
      let isEmpty = waiting.withLock { waiting in
        if !waiting.isEmpty { waiting.continuations.append(continuation) }
        return waiting.isEmpty
      }
      if isEmpty { continuation.resume() }
    }
  }

  @inline(never)
  private func refuse() throws(CacheError) {
    leave()
    throw .storeClosed
  }

  private func reportEmpty() {
    let continuations = waiting.withLock { waiting in
      waiting.isEmpty = true
      defer { waiting.continuations = [] }
      return waiting.continuations
    }
    for continuation in continuations { continuation.resume() }
  }
}
