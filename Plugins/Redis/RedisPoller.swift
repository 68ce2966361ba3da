internal import CacheBase

/// The thread that reads from the connections of an engine while several calls wait there, or one waits for long.
///
/// `@unchecked Sendable`: the lock of `monitor` guards the variables.
final class RedisPoller: @unchecked Sendable {
  /// How long the thread lives without a connection.
  private static let idleTime = Duration.seconds(10)

  private let monitor = Monitor()
  private var isRunning = false
  /// The connections that the thread has not seen yet.
  private var added: [RedisConnection] = []
  /// The ends of a pipe that wakes up the thread; both -1 until it is needed.
  private var pipeEnds: [Int32] = [-1, -1]

  deinit { for end in pipeEnds where end >= 0 { close(end) } }

  /// Has the thread read from `connection`, and returns whether there is a thread.
  func add(_ connection: RedisConnection) -> Bool {
    monitor.withLock {
      added.append(connection)
      if isRunning {
        signalThread()
        return true
      }
      if pipeEnds[0] < 0 {
        guard pipe(&pipeEnds) == 0 else { return false }
        for end in pipeEnds {
          _ = fcntl(end, F_SETFD, FD_CLOEXEC)
          _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
      }
      isRunning = SystemThread.startDetached { self.run() }
      if !isRunning { added = [] }
      return isRunning
    }
  }

  /// Has the thread look again at what its connections wait for.
  func wake() { monitor.withLock { if isRunning { signalThread() } } }

  private func signalThread() {
    var byte: UInt8 = 0
    // A full pipe wakes up the thread as well.
    _ = write(pipeEnds[1], &byte, 1)
  }

  private func run() {
    var connections: [RedisConnection] = []
    var requests: [pollfd] = []
    let wakeUp = pollfd(fd: monitor.withLock { pipeEnds[0] }, events: Int16(POLLIN), revents: 0)
    while true {
      connections += monitor.withLock {
        defer { added = [] }
        return added
      }
      requests = [wakeUp]
      var end = ContinuousClock.now.advanced(by: Self.idleTime)
      connections.removeAll { connection in
        guard let wait = connection.nextWait() else { return true }
        requests.append(wait.request)
        end = min(end, wait.end)
        return false
      }
      let pause = max(ContinuousClock.now.duration(to: end), .zero)
      // Rounded up: a wait of less than a millisecond must not become a busy loop.
      let count = poll(&requests, nfds_t(requests.count), Int32((pause / .milliseconds(1)).rounded(.up)))
      if requests[0].revents != 0 { emptyPipe(wakeUp.fd) }
      for (connection, request) in zip(connections, requests.dropFirst()) where request.revents != 0 {
        connection.takePolled()
      }
      if count == 0, connections.isEmpty, isUnneeded() { return }
    }
  }

  private func emptyPipe(_ descriptor: Int32) {
    withUnsafeTemporaryAllocation(byteCount: 256, alignment: 1) { room in
      while read(descriptor, room.baseAddress, room.count) == room.count {}
    }
  }

  /// Ends the thread if no connection was added, and returns whether it ends.
  private func isUnneeded() -> Bool {
    monitor.withLock {
      isRunning = !added.isEmpty
      return !isRunning
    }
  }
}
