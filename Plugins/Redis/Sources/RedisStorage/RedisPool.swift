internal import StorageSPI
internal import Synchronization

/// The connections that nobody uses at the moment, by server.
final class RedisPool: Sendable {
  private struct State {
    var idle: [RedisAddress: [RedisConnection]] = [:]
    var isClosed = false
  }

  private let options: RedisOptions
  private let state = Mutex(State())

  init(_ options: RedisOptions) { self.options = options }

  /// An idle connection to `address`, or a new one; and whether it was idle, so that it may have been closed by the
  /// server without anybody noticing.
  ///
  /// - Throws: `RedisOpeningError`.
  func take(_ address: RedisAddress) throws(RedisOpeningError) -> (connection: RedisConnection, wasIdle: Bool) {
    if let idle = state.withLock({ $0.idle[address]?.popLast() }) { return (idle, true) }
    return (try RedisConnection.open(address, options), false)
  }

  /// Takes back a connection on which nothing is under way.
  func give(_ connection: RedisConnection) {
    state.withLock { if !$0.isClosed { $0.idle[connection.address, default: []].append(connection) } }
  }

  /// Closes the idle connections to `address`: what has broken one has broken them all.
  func removeIdle(_ address: RedisAddress) {
    let idle = state.withLock { $0.idle.removeValue(forKey: address) }
    _ = idle  // Released here, outside the lock.
  }

  /// Closes all idle connections, and from now on each that comes back.
  func close() {
    let idle = state.withLock { state in
      state.isClosed = true
      defer { state.idle = [:] }
      return state.idle
    }
    _ = idle
  }
}
