import CommandLineKit
import SeededNumbers
import Testing

private let vocabulary = [
  "fetch", "cities", "url", "ls", "rm", "backends", "list", "show", "shift", "help", "--order", "--order=name",
  "revenue", "--limit", "5", "-5", "-l", "-l5", "-qv", "-aq", "--", "-", "", "--=", "--=x", "---", "-=", "--help", "-h",
  "--version", "--backend", "--backend=", "lmdb", "--header", "A: 1", "--all", "--quiet=1", "-é", "--ö=ü", "\u{0}", "🎉",
  "--from", "--chunk", "999999999999999999999", "-d@x", "--dry-run", "-.", "-.5", "\u{301}", "--\u{301}=",
]

/// Returns the mistake in the outcome of a command line; `nil` if there is none.
private func flaw(of arguments: [String]) -> String? {
  do {
    guard case .help(let request) = try Tool.parseAsRoot(arguments) else { return nil }
    return request.text().hasSuffix("\n") ? nil : "help without an end"
  } catch {
    let isOneLine = !error.description.contains { $0.isNewline }
    return isOneLine && error.exitCode == .validationFailure ? nil : error.description
  }
}

@Test("any arguments give a command, help, the version or a mistake in one line", arguments: UInt64(0)..<40)
func neverTraps(seed: UInt64) {
  var generator = SeededGenerator(seed: seed)
  for _ in 0..<100 {
    let count = Int.random(in: 0...7, using: &generator)
    let arguments = (0..<count).map { _ in vocabulary.randomElement(using: &generator) ?? "" }
    #expect(flaw(of: arguments) == nil, "seed \(seed): \(arguments)")
  }
}
