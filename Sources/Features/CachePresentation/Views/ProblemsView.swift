/// The mistakes in a file.
public struct ProblemsView: OutputView {
  private let problems: [ErrorView]

  /// The view of `problems`, in their order.
  public init(_ problems: [ErrorView]) {
    self.problems = problems
  }

  /// The document `{"valid", "problems": [{"code", "message", "hint"}]}`.
  public var json: JSONValue { ["valid": .boolean(problems.isEmpty), "problems": .array(records)] }

  /// The names of the members of a problem.
  public var columns: [String] { ["code", "message", "hint"] }

  /// One object for each problem.
  public var records: [JSONValue] { problems.compactMap { $0.json["error"] } }

  /// One line for each problem, with its hint.
  public func table(on screen: Screen, hasHeader: Bool) -> String {
    problems.map { problem in
      TerminalText.line([problem.message, problem.hint].filter { !$0.isEmpty }.joined(separator: ": ")) + "\n"
    }.joined()
  }

  /// The number of problems.
  public var status: StatusLine? {
    problems.isEmpty
      ? StatusLine(["The configuration is valid"])
      : StatusLine([NumberText.count(problems.count, "problem", "problems")], style: .red)
  }
}
