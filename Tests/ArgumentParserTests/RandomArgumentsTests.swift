import ArgumentParser
import Testing

/// A small generator of numbers that repeats itself for a seed (SplitMix64, Steele and others 2014).
private struct SeededGenerator: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

private let vocabulary = [
  "fetch", "cities", "url", "ls", "rm", "backends", "list", "show", "shift", "help", "--order", "--order=name",
  "revenue", "--limit", "5", "-5", "-l", "-l5", "-qv", "-aq", "--", "-", "", "--=", "--=x", "---", "-=", "--help", "-h",
  "--version", "--backend", "--backend=", "lmdb", "--header", "A: 1", "--all", "--quiet=1", "-é", "--ö=ü", "\u{0}", "🎉",
  "--from", "--chunk", "999999999999999999999", "-d@x", "--dry-run", "-.", "-.5", "\u{301}", "--\u{301}=",
]

/// What is wrong with the outcome of a command line, whatever it is; `nil` where nothing is.
private func flaw(of arguments: [String]) -> String? {
  do {
    guard case .help(let request) = try Tool.parseAsRoot(arguments) else { return nil }
    return request.text().hasSuffix("\n") ? nil : "help without an end"
  } catch {
    let isOneLine = !error.description.contains { $0.isNewline }
    return isOneLine && error.kind != .defect ? nil : error.description
  }
}

@Test("any arguments give a command, help, the version or a mistake in one line", arguments: UInt64(0)..<40)
func neverTraps(seed: UInt64) {
  var generator = SeededGenerator(state: seed)
  for _ in 0..<100 {
    let count = Int.random(in: 0...7, using: &generator)
    let arguments = (0..<count).map { _ in vocabulary.randomElement(using: &generator) ?? "" }
    #expect(flaw(of: arguments) == nil, "seed \(seed): \(arguments)")
  }
}
