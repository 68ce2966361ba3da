internal import StorageSPI

/// A pipelined connection to one server, logged in, which any number of calls share.
final class RedisConnection: @unchecked Sendable {
  /// What the server said of itself when the connection was opened.
  struct Role: Sendable {
    enum Mode: Sendable { case standalone, cluster, sentinel }

    let mode: Mode
    let isMaster: Bool
    /// The name of this run of the server; another one after each restart.
    let runID: String
  }

  let address: RedisAddress
  let role: Role

  private init(_ address: RedisAddress, _ role: Role) {
    self.address = address
    self.role = role
  }

  /// Connects to the server at `address`, and logs in.
  ///
  /// - Parameter onMessage: what takes each message of a subscription, in order, on the thread that reads. The connection
  ///   must then be closed explicitly.
  /// - Throws: `unreachable` or `busy` if a retry or another server may help; anything else if not.
  static func open(
    _ address: RedisAddress, _ options: RedisOptions, onMessage: (@Sendable (RedisValue) -> Void)? = nil
  ) async throws(CacheError) -> RedisConnection {
    throw CacheError(.unsupported, "not yet")
  }

  /// Whether commands can be sent, as far as is known.
  var isOpen: Bool { false }

  /// Sends `commands` together, and returns all replies in order; an error reply is a value.
  func send(_ commands: [RedisCommand]) async throws(RedisDisconnection) -> [RedisValue] { [] }

  /// Ends the connection, and every wait for it.
  func close() {}
}

final class RedisPoller: Sendable {}
