internal import CachePresentation

/// The results of the checks of a backend.
struct ChecksView: OutputView {
  /// The result of one check.
  struct CheckRow: Sendable, Hashable {
    /// How a check ended.
    enum Result: String, Sendable, CaseIterable {
      /// The backend behaves as it must.
      case passed
      /// The backend does not.
      case failed
      /// The check was not made.
      case skipped
    }

    /// The name of the check.
    let name: String
    /// How it ended.
    let result: Result
    /// Why it failed or was skipped; empty if there is nothing to say.
    let message: String

    /// The result of the check called `name`.
    init(name: String, result: Result, message: String = "") {
      self.name = name
      self.result = result
      self.message = message
    }

    /// The check as a line of NDJSON, with its line end.
    var line: String { JSONText.text(json) + "\n" }

    fileprivate var json: JSONValue {
      ["name": .string(name), "result": .string(result.rawValue), "message": .string(message)]
    }
  }

  private let backend: String
  private let checks: [CheckRow]

  /// The view of the `checks` of `backend`, in their order.
  init(backend: String, checks: [CheckRow]) {
    self.backend = backend
    self.checks = checks
  }

  /// The document of `backends test`.
  var json: JSONValue {
    [
      "backend": .string(backend), "passed": .integer(count(.passed)), "failed": .integer(count(.failed)),
      "skipped": .integer(count(.skipped)), "checks": .array(records),
    ]
  }

  /// The names of the members of a check.
  var columns: [String] { ["name", "result", "message"] }

  /// The checks.
  var records: [JSONValue] { checks.map(\.json) }

  /// Whether a check failed.
  var hasFailures: Bool { count(.failed) > 0 }

  /// The checks, the result first, and failed checks before all others. Messages are broken between words.
  func table(on screen: Screen, hasHeader: Bool) -> String {
    let ordered = checks.filter { $0.result == .failed } + checks.filter { $0.result != .failed }
    let rows = ordered.map { check in
      [
        Table.Cell(check.result.rawValue, Self.style(check.result)), Table.Cell(check.name, .plain),
        Table.Cell(check.message, .plain),
      ]
    }
    return Table([.init("Result"), .init("Check"), .init("Message")], rows: rows).wrappingLastColumn(on: screen)
      .text(on: screen.unlimited, hasHeader: hasHeader)
  }

  /// How many checks passed, failed and were skipped.
  var status: StatusLine? {
    let counts = CheckRow.Result.allCases.map { "\(NumberText.text(count($0))) \($0.rawValue)" }
    let style: TextStyle = hasFailures ? .red : .green
    return StatusLine(["\(backend): \(counts.joined(separator: ", "))"], style: style)
  }

  private func count(_ result: CheckRow.Result) -> Int { checks.count { $0.result == result } }

  private static func style(_ result: CheckRow.Result) -> TextStyle {
    switch result {
    case .passed: .green
    case .failed: .red
    case .skipped: .dim
    }
  }
}
