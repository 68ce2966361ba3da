internal import StorageSPI

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
  private(set) var mayBeDone = false

  init(_ requests: [RedisRequest], deadline: ContinuousClock.Instant) {
    (self.requests, self.deadline) = (requests, deadline)
    replies = Array(repeating: nil, count: requests.count)
  }

  /// All answers; `nil` while some are missing.
  var allReplies: [RedisReply]? {
    let found = replies.compactMap { $0 }
    return found.count == requests.count ? found : nil
  }

  /// Whether an unanswered request is for a server that `isSilent`.
  func isStuck(_ topology: RedisTopology, _ isSilent: (RedisAddress) -> Bool) -> Bool {
    requests.indices.contains { index in
      replies[index] == nil && topology.owner(of: requests[index].part).map(isSilent) == true
    }
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
