internal import Platform
internal import StorageSPI
internal import Synchronization

/// Requests in progress: which have been answered, and what keeps the others from an answer.
struct RedisCall {
  let requests: [RedisRequest]
  /// When to give up.
  let deadline: ContinuousClock.Instant
  /// The answers so far, in request order.
  private(set) var replies: [RedisReply?]
  /// The address to ask once instead, because a slot is being migrated.
  private var redirects: [Int: RedisAddress] = [:]

  /// The problem in this round.
  private(set) var trouble: RedisTrouble?
  /// The first error that retrying cannot fix.
  private(set) var failure: CacheError?
  /// Whether the map of parts to servers is out of date.
  private(set) var needsMap = false
  /// Whether it is pointless to retry at once.
  private(set) var needsPause = false
  /// Whether a change was sent whose outcome is unknown.
  private(set) var mayBeDone: Bool

  init(_ requests: [RedisRequest], deadline: ContinuousClock.Instant, mayBeDone: Bool = false) {
    (self.requests, self.deadline, self.mayBeDone) = (requests, deadline, mayBeDone)
    replies = Array(repeating: nil, count: requests.count)
  }

  /// All answers; `nil` while some are missing.
  var allReplies: [RedisReply]? {
    let found = replies.compactMap { $0 }
    return found.count == requests.count ? found : nil
  }

  /// Whether an unanswered request is for a server that `isSilent`.
  func isStuck(_ topology: RedisTopology, _ isSilent: (RedisAddress) -> Bool) -> Bool {
    pendingServers(topology).contains(where: isSilent)
  }

  /// The servers of the unanswered requests.
  func pendingServers(_ topology: RedisTopology) -> Set<RedisAddress> {
    Set(requests.indices.lazy.filter { replies[$0] == nil }.compactMap { topology.owner(of: requests[$0].part) })
  }

  mutating func beginRound() { (trouble, needsMap, needsPause) = (nil, false, false) }

  /// The unanswered requests by the server to ask, and whether to send each with `ASKING`, because the server may not
  /// own the slot yet.
  mutating func takePending(_ topology: RedisTopology) -> [RedisAddress: [(index: Int, isAsking: Bool)]] {
    var pending: [RedisAddress: [(index: Int, isAsking: Bool)]] = [:]
    for index in requests.indices where replies[index] == nil {
      let redirect = redirects.removeValue(forKey: index)
      if let address = redirect ?? topology.owner(of: requests[index].part) {
        pending[address, default: []].append((index, redirect != nil))
      } else {
        (trouble, needsMap) = (.unreachable("no node serves a part of the store"), true)
      }
    }
    return pending
  }

  /// Records that no answer came, because of `trouble`.
  mutating func note(_ trouble: RedisTrouble, needsMap: Bool, needsPause: Bool) {
    self.trouble = trouble
    if needsMap { self.needsMap = true }
    if needsPause { self.needsPause = true }
  }

  /// Records that changes were sent and never answered.
  mutating func noteLoss(of indices: [Int]) {
    if indices.contains(where: { requests[$0].isChange }) { mayBeDone = true }
  }

  mutating func fail(_ error: CacheError) { failure = failure ?? error }

  mutating func answer(_ index: Int, _ reply: RedisReply) { replies[index] = reply }

  mutating func redirect(_ index: Int, to address: RedisAddress) { redirects[index] = address }
}

/// The requests that go to one server together, and their replies.
struct RedisExchange {
  let connection: RedisConnection
  /// Whether the connection was idle before: then it may have been closed unnoticed.
  let wasIdle: Bool
  /// The positions of the requests in the call.
  let indices: [Int]
  /// For each request, whether it follows a redirection, and is sent with `ASKING`.
  let isAsking: [Bool]
  /// How many replicas must confirm the changes at least; `nil` if none need confirm them.
  let minimumReplicas: Int?

  /// Sends the requests.
  func send(_ call: RedisCall) throws(RedisDisconnection) {
    var bytes: [UInt8] = []
    for (index, isAsking) in zip(indices, isAsking) {
      if isAsking { RedisCommand("ASKING").encode(into: &bytes) }
      call.requests[index].command(hashes: connection.hashes).encode(into: &bytes)
    }
    if minimumReplicas != nil { RedisCommand("ROLE").encode(into: &bytes) }
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
    return (replies, try waitForReplicas(until: deadline))
  }

  /// Waits until every current replica of the server has all changes of this connection, and returns whether that is so.
  private func waitForReplicas(until deadline: ContinuousClock.Instant) throws(RedisDisconnection) -> Bool {
    guard let minimumReplicas else { return true }
    var role = try connection.receive().value.elements ?? []
    // A replica that is about to connect costs less than sending the batch again.
    let end = min(deadline, .now.advanced(by: .milliseconds(500)))
    while role.count == 3, let replicas = role[2].elements, replicas.count < minimumReplicas, .now < end {
      usleep(50_000)
      role = try connection.exchange([RedisCommand("ROLE")])[0].value.elements ?? []
    }
    // Only a server that reports itself as master has no replicas to ask: one that does not answer, or has become a
    // replica, confirms nothing.
    guard role.count == 3, role[0].text == "master", let replicas = role[2].elements else { return false }
    guard replicas.count >= minimumReplicas else { return false }
    if replicas.isEmpty { return true }
    // In steps, because a server that waits does not learn that the call's time is up.
    let left = min(max(ContinuousClock.now.duration(to: deadline), .milliseconds(1)), .milliseconds(500))
    let wait = RedisCommand("WAIT", String(replicas.count), String(left.components.attoseconds / 1_000_000_000_000_000))
    let confirmed = try connection.exchange([wait])[0].value.integer ?? 0
    return confirmed >= replicas.count
  }
}

/// How long a call waits for servers after its caller is cancelled.
///
/// The call goes on for a moment, because a cancelled caller still releases what it holds, and a healthy server answers
/// in that time.
final class RedisPatience: Sendable {
  private let rest: Duration
  private let end = Mutex<ContinuousClock.Instant?>(nil)

  /// The patience of a call with `options`: a twenty-fifth of the server's time to answer.
  convenience init(_ options: RedisOptions) { self.init(rest: options.timeout / 25) }

  /// A patience that is over `rest` after the cancellation.
  init(rest: Duration) { self.rest = rest }

  /// Records that the caller was cancelled.
  func cancel() { end.withLock { $0 = $0 ?? .now.advanced(by: rest) } }

  /// Whether a cancelled caller's call has waited long enough.
  var isOver: Bool { end.withLock { $0.map { $0 <= .now } ?? false } }
}
