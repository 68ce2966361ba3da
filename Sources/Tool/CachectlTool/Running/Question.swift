internal import CachePresentation
internal import Glibc

/// Asks the user, on a terminal.
enum Question {
  /// Whether a terminal is there for the question and the answer.
  static var canBeAsked: Bool { isatty(STDIN_FILENO) == 1 && Console.error.screen.isTerminal }

  /// Whether the user says yes. An interruption means no.
  static func confirm(_ question: String) -> Bool {
    Diagnostics.standard.write(.question(question))
    guard (try? Readiness.wait(for: STDIN_FILENO, POLLIN)) != nil else {
      // The line of the answer still needs its end.
      if !Diagnostics.standard.isJSON { Console.error.writeIfPossible("\n") }
      return false
    }
    return ["y", "yes"].contains(readLine()?.lowercased() ?? "")
  }
}
