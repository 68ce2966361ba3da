import CommandLineKit
import Testing

@Test("a completion script is valid in its shell and as recorded", arguments: CompletionShell.allCases)
func scriptsAreValid(shell: CompletionShell) throws {
  let name = "script.\(shell.rawValue)"
  let check = try CompletionScripts().run([shell.rawValue, "-n", name])
  #expect(check.status == 0 && check.lines.isEmpty, "\(check.lines)")
  try expectGolden(Tool.completionScript(for: shell), "completion.\(shell.rawValue)")
}

/// Words before the cursor, the word being typed last, and what is offered in their place.
private let offers: [(words: String, expected: Set<String>)] = [
  ("fet", ["fetch"]),
  ("fetch ", ["cities", "url"]),
  ("--backend lmdb fetch ci", ["cities"]),
  ("-q --backend fetch l", ["ls"]),
  ("fetch --order name c", ["cities"]),
  ("fetch cities --or", ["--order"]),
  ("--or", ["--order"]),
  ("fetch cities --order ", ["revenue", "organizations", "name"]),
  ("fetch cities -o r", ["revenue"]),
  ("--backend s", ["sqlite"]),
  ("ls --output nd", ["ndjson"]),
  ("backends show l", ["lmdb"]),
  ("backends show lmdb l", []),
  ("backends s", ["show"]),
  ("help fetch u", ["url"]),
  ("rm --no", ["--no-color"]),
  ("ls -- fet", []),
]

private func typed(_ line: String) -> [String] {
  ["tool"] + line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
}

@Test("bash and zsh offer what can stand at the cursor", arguments: offers)
func bourneShellsOffer(words: String, expected: Set<String>) throws {
  let scripts = try CompletionScripts()
  #expect(Set(try scripts.bash(typed(words))) == expected)
  #expect(Set(try scripts.zsh(typed(words))).subtracting(["files"]) == expected)
}

@Test("fish offers what can stand at the cursor", arguments: offers)
func fishOffers(words: String, expected: Set<String>) throws {
  #expect(Set(try CompletionScripts().fish("tool \(words)")) == expected)
}

@Test("the value after an equals sign is completed in every shell")
func valuesAfterEqualsSign() throws {
  let scripts = try CompletionScripts()
  #expect(try scripts.bash(["tool", "fetch", "cities", "--order", "=", "re"]) == ["revenue"])
  #expect(try scripts.bash(["tool", "fetch", "cities", "--order", "="]).count == 3)
  #expect(try scripts.bash(["tool", "fetch", "cities", "--order=re"]) == ["--order=revenue"])
  #expect(try scripts.zsh(["tool", "fetch", "cities", "--order=re"]) == ["revenue"])
  #expect(try scripts.fish("tool fetch cities --order=re") == ["--order=revenue"])
}

@Test("files and folders are offered where they are expected")
func filesAndFolders() throws {
  let scripts = try CompletionScripts()
  #expect(Set(try scripts.bash(["tool", "--config", ""])) == ["a.json", "b.txt", "some folder"])
  #expect(try scripts.bash(["tool", "--home", ""]) == ["some folder"])
  #expect(Set(try scripts.bash(["tool", "ls", "a.json", "b"])) == ["b.txt"])
  #expect(try scripts.zsh(["tool", "--config", ""]) == ["files -g *.json *.txt"])
  #expect(try scripts.zsh(["tool", "ls", "--home", ""]) == ["files -/"])
  #expect(try scripts.fish("tool ls --home som") == ["some folder/"])
  #expect(try scripts.fish("tool ls b").contains("b.txt"))
}

private let keys = ["cities/v1/order=name/page=0", "cities/v1/order=name/page=1", "movies/v1/query=a%20b"]

/// The words, the values that are offered, and with what words the program is asked for them.
private let questions: [(words: String, expected: [String], question: String)] = [
  ("rm ", keys, "<__complete><keys><><rm>"),
  ("rm mov", [keys[2]], "<__complete><keys><mov><rm>"),
  ("--backend lmdb rm cities/v1/order=name/page=0 mo", [keys[2]], "<keys><mo><--backend><lmdb><rm><\(keys[0])>"),
  ("rm --namespace ", ["cities", "movies"], "<namespaces><><rm><--namespace>"),
  ("rm https://example.com/?a=b mo", [keys[2]], "<keys><mo><rm><https://example.com/?a=b>"),
  ("rm x", [], "<keys><x><rm>"),
]

@Test("every shell asks the program for values that change", arguments: questions)
func valuesAreAskedFor(words: String, expected: [String], question: String) throws {
  let scripts = try CompletionScripts()
  #expect(Set(try scripts.bash(typed(words))) == Set(expected))
  #expect(try scripts.lastQuestion()?.hasSuffix(question) == true)
  #expect(Set(try scripts.zsh(typed(words))) == Set(expected))
  #expect(try scripts.lastQuestion()?.hasSuffix(question) == true)
  #expect(Set(try scripts.fish("tool \(words)")) == Set(expected))
  #expect(try scripts.lastQuestion()?.hasSuffix(question) == true)
}

/// Bash splits words at equals signs, and replaces what comes after the last of them.
@Test("a value with an equals sign in it is completed in every shell")
func askedValuesWithEqualsSigns() throws {
  let scripts = try CompletionScripts()
  #expect(try scripts.bash(["tool", "rm", "cities/v1/order", "=", "na"]) == ["name/page=0", "name/page=1"])
  #expect(try scripts.bash(["tool", "rm", "cities/v1/order", "="]) == ["name/page=0", "name/page=1"])
  #expect(try scripts.bash(["tool", "rm", "cities/v1/order", "=", "name/page", "=", "1"]) == ["1"])
  #expect(try scripts.lastQuestion() == "<__complete><keys><cities/v1/order=name/page=1><rm>")
  #expect(try scripts.bash(["tool", "rm", "cities/v1/order=na"]) == Array(keys.prefix(2)))
  #expect(try scripts.bash(["tool", "rm", "--namespace", "=", "mo"]) == ["movies"])
  #expect(try scripts.lastQuestion() == "<__complete><namespaces><mo><rm><--namespace><=>")
  #expect(try scripts.bash(["tool", "rm", "https", ":", "//x/?a", "=", "b", "mo"]) == [keys[2]])
  #expect(try scripts.lastQuestion() == "<__complete><keys><mo><rm><https://x/?a=b>")
  #expect(try scripts.zsh(["tool", "rm", "cities/v1/order=na"]) == Array(keys.prefix(2)))
  #expect(try scripts.zsh(["tool", "rm", "--namespace=mo"]) == ["movies"])
  #expect(try scripts.fish("tool rm --namespace=mo") == ["--namespace=movies"])
  #expect(try scripts.fish("tool rm cities/v1/order=na") == Array(keys.prefix(2)))
}

private struct Place: ParsableCommand {
  @OptionGroup
  var globals: GlobalOptions
}

@Test("a question carries the options that stand before the word being typed")
func optionsOfAQuestion() throws {
  func options(_ words: String...) -> GlobalOptions? {
    CompletionQuery(["__complete", "keys", "c"] + words)?.options(of: Place.self)?.globals
  }
  #expect(options()?.backend == nil)
  #expect(options("--backend", "lmdb", "rm", "-q", "--unknown", "x", "--home=/h")?.backend == "lmdb")
  #expect(options("--backend", "lmdb", "rm", "--home=/h")?.home == "/h")
  #expect(options("rm", "--backend", "=", "lmdb")?.backend == "lmdb")
  #expect(options("--backend")?.backend == nil)
  #expect(options("--backend", "lmdb", "--output", "none")?.backend == nil)
  #expect(CompletionQuery(["ls"]) == nil && CompletionQuery(["__complete", "keys"]) == nil)
  let query = CompletionQuery(["__complete", "keys", "c", "rm"])
  #expect(query?.topic == "keys" && query?.beginning == "c")
}

@Test("an interactive zsh completes with the script")
func interactiveZsh() throws {
  let lines = [
    ("tool fet", "tool fetch "), ("tool --backend lm", "tool --backend lmdb "),
    ("tool fetch cities --order=n", "tool fetch cities --order=name "),
    ("tool fetch cities --no", "tool fetch cities --no-color "), ("tool --config a", "tool --config a.json "),
    ("tool --config b", "tool --config b.txt "),
    ("tool ls --home s", "tool ls --home some\\ folder/"), ("tool ls c", "tool ls c.log "),
    ("tool rm mov", "tool rm movies/v1/query=a%20b "), ("tool rm --namespace=m", "tool rm --namespace=movies "),
  ]
  let completed = try CompletionScripts().interactiveZsh(lines.map(\.0))
  #expect(completed == lines.map(\.1))
}
