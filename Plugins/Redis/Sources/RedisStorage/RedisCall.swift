internal import StorageSPI

/// Requests on their way: which have been answered, and what stands in the way of the others.
struct RedisCall {
  let requests: [RedisRequest]
  /// When to give up.
  let deadline: ContinuousClock.Instant
  /// The answers so far, in the order of the requests.
  private(set) var replies: [RedisReply?]
  /// Where to ask instead, once, because a slot is being migrated.
  private var redirects: [Int: RedisAddress] = [:]

  /// What stood in the way in this round.
  private(set) var trouble: RedisTrouble?
  /// The first error that another try would not help.
  private(set) var failure: StorageError?
  /// Whether it is no longer known who has which part.
  private(set) var needsMap = false
  /// Whether asking again at once would be of no use.
  private(set) var needsPause = false
  /// Whether a change was sent and its outcome is unknown.
  private(set) var mayBeDone = false

  init(_ requests: [RedisRequest], deadline: ContinuousClock.Instant) {
    (self.requests, self.deadline) = (requests, deadline)
    replies = Array(repeating: nil, count: requests.count)
  }

  /// All answers; `nil` as long as some are missing.
  var allReplies: [RedisReply]? {
    let found = replies.compactMap { $0 }
    return found.count == requests.count ? found : nil
  }

  /// Whether a request without an answer is for a server that `isSilent`.
  func isStuck(_ topology: RedisTopology, _ isSilent: (RedisAddress) -> Bool) -> Bool {
    requests.indices.contains { index in
      replies[index] == nil && topology.owner(of: requests[index].part).map(isSilent) == true
    }
  }

  mutating func beginRound() { (trouble, needsMap, needsPause) = (nil, false, false) }

  /// The requests without an answer by the server that is to answer them, and whether it is to be told that it may
  /// not have the slot yet.
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

  /// Notes that no answer came, because of `trouble`.
  mutating func note(_ trouble: RedisTrouble, needsMap: Bool, needsPause: Bool) {
    self.trouble = trouble
    if needsMap { self.needsMap = true }
    if needsPause { self.needsPause = true }
  }

  /// Notes that changes were sent and nothing was heard of them.
  mutating func noteLoss(of indices: [Int]) {
    if indices.contains(where: { requests[$0].isChange }) { mayBeDone = true }
  }

  mutating func fail(_ error: StorageError) { failure = failure ?? error }

  mutating func answer(_ index: Int, _ reply: RedisReply) { replies[index] = reply }

  mutating func redirect(_ index: Int, to address: RedisAddress) { redirects[index] = address }
}
