internal import CachePresentation
internal import CacheBase
internal import EngineConformance
internal import EngineAPI

/// The checks of an engine that are made in another process, which the engine may crash at any time.
struct IsolatedChecks: Sendable {
  /// How the other process ended.
  enum End: Sendable, Hashable {
    /// With a status.
    case exited(status: Int32)
    /// By a signal.
    case killed(signal: Int32)
    /// It was killed, because a check took longer than this.
    case gaveUp(after: Duration)

    /// The message for a process that ended too early.
    fileprivate var message: String {
      switch self {
      case .exited(let status): "the engine ended the process with status \(status)"
      case .killed(let signal): "the engine ended the process: \(SignalName.text(signal))"
      case .gaveUp(let limit): "the engine did not return within \(DurationText(limit))"
      }
    }
  }

  private let names = ConformanceSuite.checks.map(\.name)
  private var rows: [ChecksView.CheckRow] = []

  /// The state before the first check.
  init() {}

  /// The number of checks in all.
  static var total: Int { ConformanceSuite.checks.count }

  /// The number of checks made.
  var done: Int { rows.count }

  /// The name of the current check; `nil` if all have been made.
  var underWay: String? { done < names.count ? names[done] : nil }

  /// Adds the next check if `line` is a report of one, in the form of `ChecksView.CheckRow.line`. Ignores anything
  /// else, such as output of an engine.
  ///
  /// - Returns: whether it was a check.
  mutating func add(line: [UInt8]) -> Bool {
    guard let row = ChecksView.CheckRow(line: line), row.name == underWay else { return false }
    add(row)
    return true
  }

  /// Adds the next check.
  mutating func add(_ row: ChecksView.CheckRow) { rows.append(row) }

  /// All checks, once the other process has ended. If the engine ended it, the current check failed, and those after it
  /// were not made.
  func view(backend: String, _ end: End) -> ChecksView {
    let hasFailures = rows.contains { $0.result == .failed }
    if underWay == nil, end == .exited(status: hasFailures ? 1 : 0) {
      return ChecksView(backend: backend, checks: rows)
    }
    let failed = ChecksView.CheckRow(name: underWay ?? "end-of-process", result: .failed, message: end.message)
    let skipped = names.dropFirst(done + 1).map {
      ChecksView.CheckRow(name: $0, result: .skipped, message: "not made: the process had ended")
    }
    return ChecksView(backend: backend, checks: rows + [failed] + skipped)
  }
}

extension ChecksView.CheckRow {
  /// The check that `line` reports; `nil` if it reports none.
  fileprivate init?(line: [UInt8]) {
    guard let document = try? JSONDocument(parsing: line), case .object(let members) = document.root.value
    else { return nil }
    let texts = members.compactMap { member -> (String, String)? in
      if case .text(let text) = member.node.value { (member.key, text) } else { nil }
    }
    // The parser guarantees that no key occurs twice.
    let fields = Dictionary(uniqueKeysWithValues: texts)
    guard let name = fields["name"], let result = fields["result"].flatMap(Result.init), let message = fields["message"]
    else { return nil }
    self.init(name: name, result: result, message: message)
  }
}

/// The names of signals.
enum SignalName {
  private static let names: [Int32: String] = [
    SIGABRT: "SIGABRT", SIGALRM: "SIGALRM", SIGBUS: "SIGBUS", SIGFPE: "SIGFPE", SIGILL: "SIGILL", SIGKILL: "SIGKILL",
    SIGPIPE: "SIGPIPE", SIGSEGV: "SIGSEGV", SIGSYS: "SIGSYS", SIGTERM: "SIGTERM", SIGTRAP: "SIGTRAP",
    SIGXCPU: "SIGXCPU", SIGXFSZ: "SIGXFSZ",
  ]

  /// The name of the signal `number`, such as "SIGSEGV".
  static func text(_ number: Int32) -> String { names[number] ?? "signal \(number)" }
}
