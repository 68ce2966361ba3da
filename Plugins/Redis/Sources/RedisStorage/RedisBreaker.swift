internal import EngineSupport
internal import Glibc
internal import StorageSPI
internal import Synchronization

/// Tracks servers that do not answer. Calls to them fail at once, until a background thread gets an answer from them.
///
/// Only silence counts. A server that refuses connections answers at once, so every call asks it.
final class RedisBreaker: Sendable {
  private struct State {
    var silent: Set<RedisAddress> = []
    var isClosed = false
  }

  private static let firstPause = Duration.milliseconds(100)
  private static let longestPause = Duration.seconds(5)

  private let state = Mutex(State())

  /// Whether the server at `address` went silent and has not answered since.
  func isSilent(_ address: RedisAddress) -> Bool { state.withLock { $0.silent.contains(address) } }

  /// Records that the server at `address` went silent. From now on a separate thread calls `hasAnswered`, at growing
  /// intervals, until it returns `true`.
  func noteSilence(_ address: RedisAddress, _ hasAnswered: @escaping @Sendable () -> Bool) {
    let isNew = state.withLock { !$0.isClosed && $0.silent.insert(address).inserted }
    guard isNew else { return }
    // If no thread can be started, calls go on asking the server.
    if !DetachedThread.start({ self.watch(address, hasAnswered) }) { noteAnswer(address) }
  }

  /// Ends the threads.
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
