/// The requests that are sent to one server at once, and their answers.
struct RedisExchange {
  let connection: RedisConnection
  /// Whether the connection was idle before: then it may have been closed without anybody noticing.
  let wasIdle: Bool
  /// The places of the requests in the call.
  let indices: [Int]
  /// For each request whether it is sent in the name of a redirection.
  let isAsking: [Bool]
  /// Whether replicas are to confirm what is changed.
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

  /// Waits for the answers, and for the replicas, and says whether those have confirmed what was changed.
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

  /// Waits until every replica that the server has at the moment has all changes of this connection.
  private func waitForReplicas(until deadline: ContinuousClock.Instant) throws(RedisDisconnection) -> Bool {
    let role = try connection.receive().value.elements ?? []
    // Only a master that says so has no replica: one that does not answer, or follows another by now, confirms nothing.
    guard role.count == 3, role[0].text == "master", let replicas = role[2].elements else { return false }
    if replicas.isEmpty { return true }
    // In steps: a server that waits hears nothing of the call's time being over.
    let left = min(max(ContinuousClock.now.duration(to: deadline), .milliseconds(1)), .milliseconds(500))
    let wait = RedisCommand("WAIT", String(replicas.count), String(left.components.attoseconds / 1_000_000_000_000_000))
    let confirmed = try connection.exchange([wait])[0].value.integer ?? 0
    return confirmed >= replicas.count
  }
}
