public import StorageSPI

/// The result of checking a store.
public struct VerificationReport: Sendable {
  /// How many issues to keep: a completely damaged store must not fill the memory.
  public static let maximumIssues = 10_000

  /// The number of entries checked, including unreadable ones.
  public private(set) var entriesChecked = 0
  /// The first `maximumIssues` issues found.
  public private(set) var issues: [IntegrityIssue] = []
  /// The total number of issues.
  public private(set) var issueCount = 0

  init() {}

  /// The keys of the entries known to be damaged.
  var keys: Set<CacheKey> { Set(issues.compactMap(\.key)) }

  mutating func add(_ issue: IntegrityIssue) {
    issueCount += 1
    if issues.count < Self.maximumIssues { issues.append(issue) }
  }

  mutating func countEntries(_ count: Int) { entriesChecked += count }
}
