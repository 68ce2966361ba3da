internal import StorageSPI

/// The findings of a repair so far.
struct RedisFindings {
  /// What the repair did with an entry.
  enum Mending {
    case whole, gone
    case lost(IntegrityIssue)
  }

  private var saved = 0
  private var lost: [IntegrityIssue] = []
  private var mended: [IntegrityIssue]
  /// The number of entries found that were missing from the index.
  private var unlisted = 0
  /// The issues with entries that the repair has not come to yet.
  private var open: [CacheKey: IntegrityIssue] = [:]

  /// - Parameter issues: the findings of the check before the repair.
  init(_ issues: [IntegrityIssue]) {
    mended = issues.filter { $0.key == nil }
    for issue in issues { if let key = issue.key { open[key] = issue } }
  }

  /// Records what the repair did with the entry under `key`.
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

  /// Records what the repair did with an entry that was missing from the index.
  mutating func noteUnlisted(_ mending: Mending, of key: CacheKey) {
    unlisted += 1
    note(mending, of: key)
  }

  /// Records that the repair removed another program's key from the place of an index.
  mutating func noteForeignIndex() {
    mended.append(
      IntegrityIssue(kind: .structure, message: "another program's key was in the place of the index"))
  }

  /// The report of the repair. `loss` says what else may have been lost; `nil` if nothing.
  func report(_ loss: IntegrityIssue? = nil) -> RepairReport {
    // The repair never came to these entries: they are gone, and a scan has removed their lines since the check.
    let lost = (lost + open.values).sorted { $0.message < $1.message }
    return RepairReport(
      saved: saved, lost: lost + [loss].compactMap(\.self),
      mended: unlisted > 0 ? mended + [.unlisted(unlisted)] : mended)
  }
}
