internal import Glibc
internal import StorageSPI
internal import Synchronization

/// Which servers do not answer: calls to them fail at once, until a thread that asks them again and again gets an answer.
///
/// Only silence counts. A server that refuses connections says so at once, and is asked by every call.
final class RedisBreaker: Sendable {
  private struct State {
    var silent: Set<RedisAddress> = []
    var isClosed = false
  }

  private static let firstPause = Duration.milliseconds(100)
  private static let longestPause = Duration.seconds(5)

  private let state = Mutex(State())

  /// Whether the server at `address` was silent, and has not answered since.
  func isSilent(_ address: RedisAddress) -> Bool { state.withLock { $0.silent.contains(address) } }

  /// Notes that the server at `address` was silent. From now on `hasAnswered` is called on a thread of its own, with
  /// growing pauses, until it says so.
  func noteSilence(_ address: RedisAddress, _ hasAnswered: @escaping @Sendable () -> Bool) {
    let isNew = state.withLock { !$0.isClosed && $0.silent.insert(address).inserted }
    guard isNew else { return }
    // Without a thread to be had calls go on asking.
    if !DetachedThread.start({ self.watch(address, hasAnswered) }) { noteAnswer(address) }
  }

  /// Lets the threads end.
  func close() { state.withLock { $0 = State(isClosed: true) } }

  private func noteAnswer(_ address: RedisAddress) { state.withLock { _ = $0.silent.remove(address) } }

  private func watch(_ address: RedisAddress, _ hasAnswered: () -> Bool) {
    var pause = Self.firstPause
    while true {
      usleep(UInt32(pause / .microseconds(1)))
      if state.withLock({ $0.isClosed }) { return }
      if hasAnswered() { return noteAnswer(address) }
      pause = min(pause * 2, Self.longestPause)
    }
  }
}
