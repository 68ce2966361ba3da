import CommandLineKit
import Testing

@Test("a completion script is valid in its shell", arguments: CompletionShell.allCases)
func scriptsAreValid(shell: CompletionShell) throws {
  let check = try CompletionScripts().run([shell.rawValue, "-n", "script.\(shell.rawValue)"])
  #expect(check.status == 0 && check.lines.isEmpty, "\(check.lines)")
}

/// The output for the script of a shell, for the words after the program's name.
private func answer(_ shell: CompletionShell, _ words: [String]) async throws -> [String] {
  let request = try #require(CompletionRequest(["__complete", shell.rawValue] + words))
  let text = await Tool.completions(for: request)
  #expect(text.hasSuffix("\n"))
  return text.split(separator: "\n").map(String.init)
}

private func typed(_ line: String) -> [String] {
  line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
}

private let keys = ["cities/v1/order=name/page=0", "cities/v1/order=name/page=1", "movies/v1/query=a%20b"]

@Test(
  "what can stand at the cursor is offered",
  arguments: [
    ("fet", ["words", "fetch"]), ("fetch ", ["words", "cities", "url"]),
    ("--backend lmdb fetch ci", ["words", "cities"]), ("-q --backend fetch l", ["words", "ls"]),
    ("fetch --order name c", ["words", "cities"]), ("fetch cities --or", ["words", "--order"]),
    ("--or", ["words", "--order"]), ("--v", ["words", "--verbose", "--version"]), ("ls --v", ["words", "--verbose"]),
    ("fetch cities --order ", ["words", "revenue", "organizations", "name"]),
    ("fetch cities -o r", ["words", "revenue"]), ("fetch cities --order=re", ["words", "--order=revenue"]),
    ("--backend s", ["words", "sqlite"]), ("ls --output nd", ["words", "ndjson"]),
    ("backends show l", ["words", "lmdb"]), ("backends show lmdb l", ["words"]), ("backends s", ["words", "show"]),
    ("he", ["words", "help"]), ("help fetch u", ["words", "url"]), ("help help", ["words"]), ("help --", ["words"]),
    ("help ls b", ["words"]), ("rm --no", ["words", "--no-color"]), ("fetch cities --none=", ["words"]),
    ("fetch cities --page ", ["words"]), ("fetch cities --all=", ["words"]),
    ("--config ", ["files json txt"]), ("--config=a", ["files json txt"]), ("--home ", ["folders"]),
    ("ls -- fet", ["files"]), ("ls a.json --quiet b", ["files"]),
    ("rm ", ["words"] + keys), ("rm \(keys[0]) mov", ["words", keys[2]]), ("rm -- mov", ["words", keys[2]]),
    ("rm x", ["words"]), ("rm --namespace ", ["words", "cities", "movies"]),
  ])
func offers(line: String, expected: [String]) async throws {
  #expect(try await answer(.bash, typed(line)) == expected)
}

/// Bash splits words at equals signs and colons, and replaces the text after the last of them.
@Test(
  "what bash has split is completed",
  arguments: [
    (["fetch", "cities", "--order", "=", "re"], ["revenue"]),
    (["fetch", "cities", "--order", "="], ["revenue", "organizations", "name"]),
    (["fetch", "cities", "--order", "=", "name", ""], []), (["rm", "--namespace", "=", "mo"], ["movies"]),
    (["rm", "cities/v1/order", "=", "na"], ["name/page=0", "name/page=1"]),
    (["rm", "cities/v1/order", "="], ["name/page=0", "name/page=1"]),
    (["rm", "cities/v1/order", "=", "name/page", "=", "1"], ["1"]),
    (["rm", "https", ":", "//x/?a", "=", "b", "mo"], [keys[2]]),
    (["rm", "https", ":", "//x/?a", "=", "b", ""], keys),
  ])
func partsOfWords(words: [String], expected: [String]) async throws {
  #expect(try await answer(.bash, words) == ["words"] + expected)
}

@Test("zsh and fish get explanations, and select what matches by themselves")
func explanations() async throws {
  #expect(try await answer(.zsh, ["fetch", "c"]) == ["words", "cities:Show cities, ordered", "url:Fetch any URL"])
  #expect(try await answer(.fish, ["fetch", "c"]) == ["words", "cities\tShow cities, ordered", "url\tFetch any URL"])
  #expect(try await answer(.zsh, ["shift", "--from", ""]) == ["words", #"a\:b"#])
}

private struct Place: ParsableCommand {
  @OptionGroup
  var globals: GlobalOptions
}

@Test("a request carries the options that stand before the word being typed")
func optionsOfARequest() throws {
  func options(_ words: String...) -> GlobalOptions? {
    CompletionRequest(["__complete", "bash"] + words + ["c"])?.options(of: Place.self)?.globals
  }
  #expect(options()?.backend == nil)
  #expect(options("--backend", "lmdb", "rm", "-q", "--unknown", "x", "--home=/h")?.backend == "lmdb")
  #expect(options("--backend", "lmdb", "rm", "--home=/h")?.home == "/h")
  #expect(options("rm", "--backend", "=", "lmdb")?.backend == "lmdb")
  #expect(options("--backend")?.backend == nil)
  #expect(options("--backend", "lmdb", "--output", "none")?.backend == nil)
  for words in [["ls"], ["__complete", "bash"], ["__complete", "tcsh", "ls"]] {
    #expect(CompletionRequest(words) == nil)
  }
}

/// A line of a shell, the words that its script passes, and the words that the shell then offers.
private struct Offer: Sendable, CustomTestStringConvertible {
  let line: String
  let words: [String]
  let expected: Set<String>
  var testDescription: String { line }

  init(_ line: String, asking words: [String]? = nil, _ expected: Set<String>) {
    (self.line, self.words, self.expected) = (line, words ?? typed(line), expected)
  }

  /// Compares what `shell` asks for and offers.
  func check(_ shell: CompletionShell, offered: (CompletionScripts) throws -> [String]) async throws {
    let scripts = try CompletionScripts()
    let question = try await scripts.answer(shell, words)
    #expect(Set(try offered(scripts)) == expected)
    #expect(try scripts.question() == question)
  }
}

extension CompletionScripts {
  /// Makes the program print the output of `Tool` to `shell` for `words`, and returns the question.
  fileprivate func answer(_ shell: CompletionShell, _ words: [String]) async throws -> String {
    let question = "<__complete><\(shell.rawValue)>" + words.map { "<\($0)>" }.joined()
    try answer(try await CommandLineKitTests.answer(shell, words).map { "\($0)\n" }.joined(), to: question)
    return question
  }
}

private let bashOffers = [
  Offer("fet", ["fetch"]), Offer("fetch cities --or", ["--order"]),
  Offer("fetch cities --order = re", ["revenue"]), Offer("rm cities/v1/order = na", ["name/page=0", "name/page=1"]),
  Offer("--config ", ["a.json", "b.txt", "some folder"]), Offer("--config = a", ["a.json"]),
  Offer("--home ", ["some folder"]), Offer("ls a.json b", ["b.txt"]),
  Offer("ls --config =", ["a.json", "b.txt", "some folder"]),
  Offer("fetch cities Oslo ", []),
]

@Test("bash asks the program, and offers the answer", arguments: bashOffers)
private func bashOffersTheAnswer(_ offer: Offer) async throws {
  try await offer.check(.bash) { try $0.bash(["tool"] + offer.words) }
}

private let fishOffers = [
  Offer("fet", ["fetch"]), Offer("fetch cities --or", ["--order"]),
  Offer("fetch cities --order=re", ["--order=revenue"]), Offer("rm cities/v1/order=na", Set(keys.prefix(2))),
  Offer("rm --namespace=mo", ["--namespace=movies"]), Offer("ls --home som", ["some folder/"]),
  Offer("ls b", ["b.txt"]), Offer("ls --home=som", ["--home=some folder/"]), Offer("fetch cities Oslo ", []),
]

@Test("fish asks the program, and offers the answer", arguments: fishOffers)
private func fishOffersTheAnswer(_ offer: Offer) async throws {
  try await offer.check(.fish) { try $0.fish("tool \(offer.line)") }
}

private let zshOffers = [
  Offer("fet", ["fetch:Fetch a resource"]), Offer("fetch cities --order=re", ["revenue"]),
  Offer("rm 'cities/v1'/order=na", asking: ["rm", "cities/v1/order=na"], Set(keys.prefix(2))),
  Offer("--config ", ["files -g *.(json|txt)(-.)"]), Offer("ls --home ", ["files -/"]), Offer("ls b", ["files"]),
]

@Test("zsh asks the program, and offers the answer", arguments: zshOffers)
private func zshOffersTheAnswer(_ offer: Offer) async throws {
  try await offer.check(.zsh) { try $0.zsh(["tool"] + typed(offer.line)) }
}

@Test("a program that does not respond offers nothing", arguments: [CompletionShell.bash, .fish])
func withoutAnAnswerNothingIsOffered(shell: CompletionShell) throws {
  let scripts = try CompletionScripts()
  let offered = shell == .bash ? try scripts.bash(["tool", "ls", ""]) : try scripts.fish("tool ls ")
  #expect(offered.filter { !$0.isEmpty }.isEmpty)
}

@Test("an interactive zsh completes with the script")
func interactiveZsh() async throws {
  let lines = [
    ("tool fet", "tool fetch "), ("tool fetch cities --order=n", "tool fetch cities --order=name "),
    ("tool fetch cities --no", "tool fetch cities --no-color "), ("tool --config a", "tool --config a.json "),
    ("tool --config b", "tool --config b.txt "), ("tool ls --home s", "tool ls --home some\\ folder/"),
    ("tool ls c", "tool ls c.log "), ("tool rm mov", "tool rm movies/v1/query=a%20b "),
    ("tool rm --namespace=m", "tool rm --namespace=movies "),
  ]
  let scripts = try CompletionScripts()
  for (line, _) in lines { _ = try await scripts.answer(.zsh, Array(typed(line).dropFirst())) }
  #expect(try scripts.interactiveZsh(lines.map(\.0)) == lines.map(\.1))
}
