import EngineAPI

@testable import RedisStorage

/// Texts under names, for tests of how calls find their servers.
extension RedisNodes {
  static func open(_ url: String, _ values: [String: OptionValue] = [:]) async throws -> RedisNodes {
    try await open(RedisStorageTests.options(url, values))
  }

  var names: RedisNames { RedisNames(prefix: options.prefix, isCluster: isCluster) }

  /// The text under `name`; `nil` if there is none.
  func text(_ name: String) async throws -> String? {
    try await perform(RedisCommand("GET", name), name, isRead: true).text
  }

  func put(_ name: String, _ text: String) async throws {
    _ = try await perform(RedisCommand("SET", name, text), name, isRead: false)
  }

  private func perform(_ command: RedisCommand, _ name: String, isRead: Bool) async throws -> RedisValue {
    let reply = try await send([command], slot: names.slot(of: name), isRead: isRead)[0]
    if let error = reply.error { throw CacheError(error, store: "\(options)") }
    return reply
  }
}

extension RedisServer {
  private static let settings = ["--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "1"]

  /// A master with a replica that follows it.
  static func pair() throws -> (master: RedisServer, replica: RedisServer) {
    let master = try RedisServer(settings)
    return (master, try replica(of: master))
  }

  /// A replica that follows `master`, which must be one of a pair.
  static func replica(of master: RedisServer) throws -> RedisServer {
    let replica = try RedisServer(settings + ["--replicaof", "127.0.0.1", "\(master.port)"])
    try eventually("the replica follows the master") { () -> Void? in
      try replica.ask("ROLE").elements?.dropFirst(3).first?.text == "connected" ? () : nil
    }
    return replica
  }
}
