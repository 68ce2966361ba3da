internal import Synchronization

/// Failures that several callers see because they shared one request. One of the callers reports them.
package struct SharedWarnings: Sendable {
  /// The failures, which are also among the warnings of each caller's snapshot.
  package let errors: [CacheError]
  /// Decides which caller reports them.
  package let report: SharedReport

  package init(_ errors: [CacheError], _ report: SharedReport) { (self.errors, self.report) = (errors, report) }
}

/// Chooses one of several callers to report what concerns all of them.
package final class SharedReport: Sendable {
  private let isTaken = Atomic(false)

  package init() {}

  /// Whether the caller is the first one, and so reports.
  package func take() -> Bool { !isTaken.exchange(true, ordering: .relaxed) }
}

extension Snapshot {
  /// The warnings that are this caller's to report: its own, and the shared ones unless another caller has taken them.
  package func takeWarnings() -> [CacheError] {
    let reported = Set(shared.filter { !$0.report.take() }.flatMap(\.errors).map(\.message))
    return reported.isEmpty ? warnings : warnings.filter { !reported.contains($0.message) }
  }
}
