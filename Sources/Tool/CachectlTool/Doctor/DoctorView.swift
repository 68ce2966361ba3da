internal import CachePresentation

/// The findings of an examination of the set-up.
struct DoctorView: OutputView {
  private let checks: [Finding]

  /// The view of `checks`, in their order.
  init(_ checks: [Finding]) {
    self.checks = checks
  }

  /// The document of `doctor`.
  var json: JSONValue {
    [
      "ok": .integer(count(.ok)), "warnings": .integer(count(.warning)), "problems": .integer(count(.problem)),
      "checks": .array(records),
    ]
  }

  /// The names of the members of a check.
  var columns: [String] { ["name", "result", "message", "hint"] }

  /// The checks.
  var records: [JSONValue] {
    checks.map { check in
      [
        "name": .string(check.name), "result": .string(check.result.rawValue), "message": .string(check.message),
        "hint": check.hint.isEmpty ? .null : .string(check.hint),
      ]
    }
  }

  /// The checks, the result first, each with its hint below. Sentences are broken between words.
  func table(on screen: Screen, hasHeader: Bool) -> String {
    let columns: [Table.Column] = [.init("Result"), .init("Check"), .init("Found")]
    let table = Table(columns, rows: checks.flatMap(Self.rows))
    return table.stackedText(on: screen, leading: 2)
      ?? table.wrappingLastColumn(on: screen).text(on: screen.unlimited, hasHeader: hasHeader)
  }

  /// How many checks had each result.
  var status: StatusLine? {
    let (warnings, problems) = (count(.warning), count(.problem))
    if problems + warnings == 0 { return StatusLine(["Everything is in order"], style: .green) }
    return StatusLine(
      [NumberText.count(problems, "problem", "problems"), NumberText.count(warnings, "warning", "warnings")],
      style: problems > 0 ? .red : .yellow)
  }

  private func count(_ result: Finding.Result) -> Int { checks.count { $0.result == result } }

  private static func rows(_ check: Finding) -> [[Table.Cell]] {
    let finding: [Table.Cell] = [
      .init(check.result.rawValue, style(check.result)), .init(check.name, .plain), .init(check.message, .plain),
    ]
    return check.hint.isEmpty ? [finding] : [finding, [.init("", .plain), .init("", .plain), .init(check.hint, .dim)]]
  }

  private static func style(_ result: Finding.Result) -> TextStyle {
    switch result {
    case .ok: .green
    case .warning: .yellow
    case .problem: .red
    }
  }
}
