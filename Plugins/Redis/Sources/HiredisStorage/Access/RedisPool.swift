internal import EngineSupport
internal import Platform
internal import StorageSPI
internal import Synchronization

/// The idle connections, by server.
final class RedisPool: Sendable {
  private struct State {
    var idle: [RedisAddress: [RedisConnection]] = [:]
    var isClosed = false
  }

  private let options: RedisOptions
  private let breaker = RedisBreaker()
  private let state = Mutex(State())

  private let topology: RedisTopology?

  /// - Parameter topology: which servers there are; without it, a lost server is retried forever.
  init(_ options: RedisOptions, _ topology: RedisTopology? = nil) {
    (self.options, self.topology) = (options, topology)
  }

  /// Takes an idle connection to `address`, or opens a new one. It also returns whether the connection was idle, in
  /// which case the server may have closed it unnoticed.
  ///
  /// - Parameter patience: the patience of the call that takes it; `nil` if nothing can cancel the call.
  /// - Throws: `RedisOpeningError`; at once if the server went silent and has not answered since.
  func take(
    _ address: RedisAddress, _ patience: RedisPatience? = nil
  ) throws(RedisOpeningError) -> (connection: RedisConnection, wasIdle: Bool) {
    if breaker.isSilent(address) {
      throw .trouble(.silent("\(address) does not answer, and is asked again in the background"))
    }
    if let idle = state.withLock({ $0.idle[address]?.popLast() }) {
      idle.patience = patience
      return (idle, true)
    }
    do throws(RedisOpeningError) {
      return (try RedisConnection.open(address, options, patience), false)
    } catch {
      if case .trouble(.silent) = error { noteSilence(address) }
      throw error
    }
  }

  /// Whether the server at `address` went silent and has not answered since.
  func isSilent(_ address: RedisAddress) -> Bool { breaker.isSilent(address) }

  /// Records that the server at `address` did not answer in time, or that it is a node of a cluster and refused connections
  /// for all that time. A background thread asks it until it answers.
  func noteSilence(_ address: RedisAddress) {
    breaker.noteSilence(address) { [weak self, options, topology] in
      guard self != nil, topology?.knows(address) != false else { return true }
      do throws(RedisOpeningError) {
        let connection = try RedisConnection.open(address, options)
        self?.give(connection)
        return true
      } catch {
        return switch error {
        case .trouble(.silent): false
        // Asking a server that refuses connections is cheap. On a cluster, though, each call would also look for a replica.
        case .trouble(.unreachable): options.kind != .cluster
        default: true
        }
      }
    }
  }

  /// Returns a connection with nothing in progress.
  func give(_ connection: RedisConnection) {
    connection.patience = nil
    state.withLock { if !$0.isClosed { $0.idle[connection.address, default: []].append(connection) } }
  }

  /// Closes the idle connections to `address`: what broke one of them broke them all.
  func removeIdle(_ address: RedisAddress) {
    let idle = state.withLock { $0.idle.removeValue(forKey: address) }
    _ = idle  // Released here, outside the lock.
  }

  /// Closes all idle connections, and from now on each one that comes back.
  func close() {
    breaker.close()
    let idle = state.withLock { state in
      state.isClosed = true
      defer { state.idle = [:] }
      return state.idle
    }
    _ = idle
  }
}

/// Tracks servers that do not answer. Calls to them fail at once, until a background thread gets an answer from them.
///
/// Normally only silence counts: a server that refuses connections answers at once, so every call can ask it. A cluster
/// node counts as silent too once it has refused connections until a call timed out. That call gave a replica the time to
/// take over; later calls should not wait again.
final class RedisBreaker: Sendable {
  private struct State {
    var silent: Set<RedisAddress> = []
    var isClosed = false
  }

  private let state = Mutex(State())

  /// Whether the server at `address` went silent and has not answered since.
  func isSilent(_ address: RedisAddress) -> Bool { state.withLock { $0.silent.contains(address) } }

  /// Records that the server at `address` went silent. From now on a separate thread calls `hasAnswered`, at growing
  /// intervals, until it returns `true`.
  func noteSilence(_ address: RedisAddress, _ hasAnswered: @escaping @Sendable () -> Bool) {
    let isNew = state.withLock { !$0.isClosed && $0.silent.insert(address).inserted }
    guard isNew else { return }
    // If no thread can be started, calls go on asking the server.
    if !SystemThread.startDetached({ self.watch(address, hasAnswered) }) { noteAnswer(address) }
  }

  /// Ends the threads.
  func close() { state.withLock { $0 = State(isClosed: true) } }

  private func noteAnswer(_ address: RedisAddress) { state.withLock { _ = $0.silent.remove(address) } }

  private func watch(_ address: RedisAddress, _ hasAnswered: () -> Bool) {
    var pauses = RedisPauses()
    while true {
      usleep(UInt32(pauses.next() / .microseconds(1)))
      if state.withLock({ $0.isClosed }) { return }
      if hasAnswered() { return noteAnswer(address) }
    }
  }
}

/// The pauses between attempts to reach a server in the background: they grow from 0.1 to 5 seconds.
struct RedisPauses {
  private var upcoming = Duration.milliseconds(100)

  mutating func next() -> Duration {
    defer { upcoming = min(upcoming * 2, .seconds(5)) }
    return upcoming
  }
}
