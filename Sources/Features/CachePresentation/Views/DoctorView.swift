/// The findings of an examination of the set-up.
public struct DoctorView: OutputView {
  /// One finding.
  public struct CheckRow: Sendable, Hashable {
    /// How serious a finding is.
    public enum Result: String, Sendable, CaseIterable {
      /// All is well.
      case ok
      /// It is worth knowing, but everything works.
      case warning
      /// Something does not work, or is not safe.
      case problem
    }

    /// What was checked.
    public let name: String
    /// How serious it is.
    public let result: Result
    /// What was found, in one line.
    public let message: String
    /// What to do about it; empty if nothing.
    public let hint: String

    /// A finding of the check called `name`.
    public init(name: String, result: Result, message: String, hint: String = "") {
      self.name = name
      self.result = result
      self.message = message
      self.hint = hint
    }
  }

  private let checks: [CheckRow]

  /// The view of `checks`, in their order.
  public init(_ checks: [CheckRow]) {
    self.checks = checks
  }

  /// The document of `doctor`.
  public var json: JSONValue {
    [
      "ok": .integer(count(.ok)), "warnings": .integer(count(.warning)), "problems": .integer(count(.problem)),
      "checks": .array(records),
    ]
  }

  /// The names of the members of a check.
  public var columns: [String] { ["name", "result", "message", "hint"] }

  /// The checks.
  public var records: [JSONValue] {
    checks.map { check in
      [
        "name": .string(check.name), "result": .string(check.result.rawValue), "message": .string(check.message),
        "hint": check.hint.isEmpty ? .null : .string(check.hint),
      ]
    }
  }

  /// The checks, the result first, each with its hint below. Sentences are broken between words.
  public func table(on screen: Screen, hasHeader: Bool) -> String {
    let columns: [Table.Column] = [.init("Result"), .init("Check"), .init("Found")]
    let table = Table(columns, rows: checks.flatMap(Self.rows))
    return table.stackedText(on: screen, leading: 2)
      ?? table.wrappingLastColumn(on: screen).text(on: screen.unlimited, hasHeader: hasHeader)
  }

  /// How many checks had each result.
  public var status: StatusLine? {
    let (warnings, problems) = (count(.warning), count(.problem))
    if problems + warnings == 0 { return StatusLine(["Everything is in order"], style: .green) }
    return StatusLine(
      [NumberText.count(problems, "problem", "problems"), NumberText.count(warnings, "warning", "warnings")],
      style: problems > 0 ? .red : .yellow)
  }

  private func count(_ result: CheckRow.Result) -> Int { checks.count { $0.result == result } }

  private static func rows(_ check: CheckRow) -> [[Table.Cell]] {
    let finding: [Table.Cell] = [
      .init(check.result.rawValue, style(check.result)), .init(check.name, .plain), .init(check.message, .plain),
    ]
    return check.hint.isEmpty ? [finding] : [finding, [.init("", .plain), .init("", .plain), .init(check.hint, .dim)]]
  }

  private static func style(_ result: CheckRow.Result) -> TextStyle {
    switch result {
    case .ok: .green
    case .warning: .yellow
    case .problem: .red
    }
  }
}
