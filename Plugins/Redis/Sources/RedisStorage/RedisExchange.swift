/// The requests that go to one server together, and their replies.
struct RedisExchange {
  let connection: RedisConnection
  /// Whether the connection was idle before: then it may have been closed unnoticed.
  let wasIdle: Bool
  /// The positions of the requests in the call.
  let indices: [Int]
  /// For each request, whether it follows a redirection, and is sent with `ASKING`.
  let isAsking: [Bool]
  /// Whether replicas must confirm the changes.
  let needsReplicas: Bool

  /// Sends the requests.
  func send(_ call: RedisCall) throws(RedisDisconnection) {
    var bytes: [UInt8] = []
    for (index, isAsking) in zip(indices, isAsking) {
      if isAsking { RedisCommand("ASKING").encode(into: &bytes) }
      call.requests[index].command(hashes: connection.hashes).encode(into: &bytes)
    }
    if needsReplicas { RedisCommand("ROLE").encode(into: &bytes) }
    try connection.send(bytes)
  }

  /// Waits for the replies and the replicas, and returns whether the replicas have confirmed the changes.
  func receive(until deadline: ContinuousClock.Instant) throws(RedisDisconnection) -> (
    replies: [RedisReply], isConfirmed: Bool
  ) {
    var replies: [RedisReply] = []
    for isAsking in isAsking {
      if isAsking { _ = try connection.receive() }
      replies.append(try connection.receive())
    }
    return (replies, needsReplicas ? try waitForReplicas(until: deadline) : true)
  }

  /// Waits until every current replica of the server has all changes of this connection.
  private func waitForReplicas(until deadline: ContinuousClock.Instant) throws(RedisDisconnection) -> Bool {
    let role = try connection.receive().value.elements ?? []
    // Only a server that reports itself as master has no replicas to ask: one that does not answer, or has become a
    // replica, confirms nothing.
    guard role.count == 3, role[0].text == "master", let replicas = role[2].elements else { return false }
    if replicas.isEmpty { return true }
    // In steps, because a server that waits does not learn that the call's time is up.
    let left = min(max(ContinuousClock.now.duration(to: deadline), .milliseconds(1)), .milliseconds(500))
    let wait = RedisCommand("WAIT", String(replicas.count), String(left.components.attoseconds / 1_000_000_000_000_000))
    let confirmed = try connection.exchange([wait])[0].value.integer ?? 0
    return confirmed >= replicas.count
  }
}
