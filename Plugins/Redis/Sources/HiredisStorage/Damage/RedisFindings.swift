internal import StorageSPI

/// What a repair has found, and what became of it.
struct RedisFindings {
  /// What became of an entry.
  enum Mending {
    case whole, gone
    case lost(IntegrityIssue)
  }

  private var saved = 0
  private var lost: [IntegrityIssue] = []
  private var mended: [IntegrityIssue]
  /// How many entries that no index named are dealt with.
  private var unlisted = 0
  /// The issues with entries that are not dealt with yet.
  private var open: [CacheKey: IntegrityIssue] = [:]

  /// - Parameter issues: what a check has found.
  init(_ issues: [IntegrityIssue]) {
    mended = issues.filter { $0.key == nil }
    for issue in issues { if let key = issue.key { open[key] = issue } }
  }

  /// Notes what became of the entry under `key`.
  mutating func note(_ mending: Mending, of key: CacheKey) {
    let issue = open.removeValue(forKey: key)
    switch mending {
    case .whole:
      saved += 1
      if let issue { mended.append(issue) }
    case .gone: if let issue { lost.append(issue) }
    case .lost(let issue): lost.append(issue)
    }
  }

  /// Notes what became of an entry that no index named.
  mutating func noteUnlisted(_ mending: Mending, of key: CacheKey) {
    unlisted += 1
    note(mending, of: key)
  }

  /// Notes that keys of another type in the places of indexes are gone.
  mutating func noteForeignIndex() {
    mended.append(
      IntegrityIssue(kind: .structure, message: "a key of another type was in the place of the index"))
  }

  /// The report of the repair; `loss` is what may have been lost besides.
  func report(_ loss: IntegrityIssue? = nil) -> RepairReport {
    // The lines of those that are still open were forgotten after the check.
    let lost = (lost + open.values).sorted { $0.message < $1.message }
    return RepairReport(
      saved: saved, lost: lost + [loss].compactMap(\.self),
      mended: unlisted > 0 ? mended + [.unlisted(unlisted)] : mended)
  }
}
