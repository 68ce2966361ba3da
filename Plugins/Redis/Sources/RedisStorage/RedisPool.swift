internal import StorageSPI
internal import Synchronization

/// The connections that nobody uses at the moment, by server.
final class RedisPool: Sendable {
  private struct State {
    var idle: [RedisAddress: [RedisConnection]] = [:]
    var isClosed = false
  }

  private let options: RedisOptions
  private let breaker = RedisBreaker()
  private let state = Mutex(State())

  init(_ options: RedisOptions) { self.options = options }

  /// An idle connection to `address`, or a new one; and whether it was idle, so that it may have been closed by the
  /// server without anybody noticing.
  ///
  /// - Parameter patience: that of the call which takes it; `nil` for one that nothing cancels.
  /// - Throws: `RedisOpeningError`; at once where the server was silent and has not answered since.
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

  /// Whether the server at `address` was silent, and has not answered since.
  func isSilent(_ address: RedisAddress) -> Bool { breaker.isSilent(address) }

  /// Notes that the server at `address` did not answer in time. It is asked in the background until it does.
  func noteSilence(_ address: RedisAddress) {
    breaker.noteSilence(address) { [weak self, options] in
      // A server that refuses now has answered.
      do throws(RedisOpeningError) {
        let connection = try RedisConnection.open(address, options)
        self?.give(connection)
        return true
      } catch {
        if case .trouble(.silent) = error { return false }
        return true
      }
    }
  }

  /// Takes back a connection on which nothing is under way.
  func give(_ connection: RedisConnection) {
    connection.patience = nil
    state.withLock { if !$0.isClosed { $0.idle[connection.address, default: []].append(connection) } }
  }

  /// Closes the idle connections to `address`: what has broken one has broken them all.
  func removeIdle(_ address: RedisAddress) {
    let idle = state.withLock { $0.idle.removeValue(forKey: address) }
    _ = idle  // Released here, outside the lock.
  }

  /// Closes all idle connections, and from now on each that comes back.
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
