internal import ArgumentParser
internal import CachePresentation
internal import Glibc

/// Asks the user, where there is one to ask.
enum Question {
  /// Whether the user says yes. Who interrupts the question does not.
  ///
  /// - Throws: `ValidationError` where nobody can be asked.
  static func confirm(_ question: String) throws(ValidationError) -> Bool {
    guard isatty(STDIN_FILENO) == 1, Console.error.screen.isTerminal else {
      throw ValidationError("\(question) Nobody can be asked here: confirm with --yes")
    }
    Console.error.writeIfPossible("\(TerminalText.line(question)) [y/N] ")
    guard (try? Readiness.wait(for: STDIN_FILENO, POLLIN)) != nil else { return false }
    return ["y", "yes"].contains(readLine()?.lowercased() ?? "")
  }
}
