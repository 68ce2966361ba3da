public import CacheDomain

/// The steps on the way to a decision, which cost nothing where nobody wants to know.
public struct CacheTrace: Sendable {
  /// Whether steps are gathered.
  public let isRecording: Bool
  /// The steps so far, in order.
  public private(set) var criteria: [CacheCriterion] = []

  /// A trace without steps, which gathers them if `isRecording`.
  public init(isRecording: Bool) {
    self.isRecording = isRecording
  }

  /// Adds a step.
  public mutating func note(_ name: String, _ finding: @autoclosure () -> String) {
    if isRecording { criteria.append(CacheCriterion(name, finding())) }
  }
}
