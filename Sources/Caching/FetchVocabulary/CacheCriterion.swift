/// One step towards a decision: what was examined, and what was found.
public struct CacheCriterion: Sendable, Hashable {
  /// What was examined, in a few words, such as "freshness".
  public let name: String
  /// What was found, in one line.
  public let finding: String

  /// Creates a step.
  public init(_ name: String, _ finding: String) {
    self.name = name
    self.finding = finding
  }
}
