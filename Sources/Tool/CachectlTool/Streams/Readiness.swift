internal import FetchVocabulary
internal import CacheBase

/// Waits for a stream that can block indefinitely, such as a pipe or a terminal.
enum Readiness {
  /// How long a cancellation can go unnoticed, in milliseconds.
  private static let interval: Int32 = 50

  /// Waits as `wait` does, but keeps no thread: the task polls after pauses that get longer.
  ///
  /// - Throws: `cancelled` if the task is cancelled meanwhile.
  static func pause(until descriptor: Int32, _ event: Int32) async throws(CacheError) {
    var request = pollfd(fd: descriptor, events: Int16(event), revents: 0)
    var pause: Int32 = 1
    while true {
      let count = poll(&request, 1, 0)
      if count > 0 || (count < 0 && errno != EINTR) { return }
      do { try await Task.sleep(for: .milliseconds(pause)) } catch { throw .cancelled }
      pause = min(pause * 2, interval)
    }
  }

  /// Waits until the file `descriptor` is ready for `event`, `POLLIN` or `POLLOUT`, or has failed; using it shows
  /// which.
  ///
  /// - Throws: `cancelled` if the task is cancelled meanwhile: a call that blocks in the system would not notice.
  static func wait(for descriptor: Int32, _ event: Int32) throws(CacheError) {
    var request = pollfd(fd: descriptor, events: Int16(event), revents: 0)
    while true {
      let count = poll(&request, 1, interval)
      if count > 0 || (count < 0 && errno != EINTR) { return }
      if Task.isCancelled { throw .cancelled }
    }
  }
}
