internal import CachePresentation
internal import Glibc

/// Asks the user, on a terminal.
enum Question {
  /// Whether there is a terminal to ask on and to answer from.
  static var canBeAsked: Bool { isatty(STDIN_FILENO) == 1 && Console.error.screen.isTerminal }

  /// Whether the user says yes. An interruption means no.
  static func confirm(_ question: String) -> Bool {
    Diagnostics.standard.write(.question(question))
    guard (try? Readiness.wait(for: STDIN_FILENO, POLLIN)) != nil else {
      // The answer's line is still to be ended.
      if !Diagnostics.standard.isJSON { Console.error.writeIfPossible("\n") }
      return false
    }
    return ["y", "yes"].contains(readLine()?.lowercased() ?? "")
  }
}
