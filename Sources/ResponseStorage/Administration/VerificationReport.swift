public import StorageSPI

/// What a check of a store found.
public struct VerificationReport: Sendable {
  /// How many issues are kept: a store in which everything is damaged must not fill the memory.
  public static let maximumIssues = 10_000

  /// The number of entries that were looked at, those among them that could not be read.
  public private(set) var entriesChecked = 0
  /// What is wrong: the first `maximumIssues` that were found.
  public private(set) var issues: [IntegrityIssue] = []
  /// The number of all issues.
  public private(set) var issueCount = 0

  init() {}

  /// The keys of the entries that are known to be damaged.
  var keys: Set<CacheKey> { Set(issues.compactMap(\.key)) }

  mutating func add(_ issue: IntegrityIssue) {
    issueCount += 1
    if issues.count < Self.maximumIssues { issues.append(issue) }
  }

  mutating func countEntries(_ count: Int) { entriesChecked += count }
}
