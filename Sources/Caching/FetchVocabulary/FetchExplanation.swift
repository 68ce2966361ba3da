/// How a fetch is answered, and what was examined to decide that.
public struct FetchExplanation: Sendable, Hashable {
  /// The key of the entry that answers, or would answer.
  public let key: String
  /// What to do, and why.
  public let decision: CacheDecision
  /// What was examined, in order.
  public let criteria: [CacheCriterion]

  /// Creates an explanation.
  public init(key: String, decision: CacheDecision, criteria: [CacheCriterion]) {
    self.key = key
    self.decision = decision
    self.criteria = criteria
  }
}
