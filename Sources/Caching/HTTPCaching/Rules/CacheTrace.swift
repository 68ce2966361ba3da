public import FetchVocabulary

/// The steps that led to a decision. Costs nothing unless it records.
public struct CacheTrace: Sendable {
  /// Whether the trace records steps.
  public let isRecording: Bool
  /// The steps so far, in order.
  public private(set) var criteria: [CacheCriterion] = []

  /// Creates an empty trace, which records steps if `isRecording`.
  public init(isRecording: Bool) {
    self.isRecording = isRecording
  }

  /// Adds a step, if the trace records.
  public mutating func note(_ name: String, _ finding: @autoclosure () -> String) {
    if isRecording { criteria.append(CacheCriterion(name, finding())) }
  }
}
