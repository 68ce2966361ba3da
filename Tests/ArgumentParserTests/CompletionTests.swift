import ArgumentParser
import Foundation
import Testing

/// A folder with a completion script for each shell, and some files to complete. It goes with the value.
private final class Scripts {
  let folder = FileManager.default.temporaryDirectory.appending(path: "completion-\(UUID().uuidString)")

  init() throws {
    try FileManager.default.createDirectory(
      at: folder.appending(path: "some folder"), withIntermediateDirectories: true)
    for shell in CompletionShell.allCases {
      try Data(Tool.completionScript(for: shell).utf8).write(to: folder.appending(path: "script.\(shell.rawValue)"))
    }
    for name in ["a.json", "b.txt"] { try Data().write(to: folder.appending(path: name)) }
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// Runs a program in the folder, and gives its status and the lines of both its outputs.
  func run(_ command: [String]) throws -> (status: Int32, lines: [String]) {
    let process = Process()
    let pipe = Pipe()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = command
    process.currentDirectoryURL = folder
    process.environment = ProcessInfo.processInfo.environment.merging(["HOME": folder.path, "TERM": "dumb"]) { $1 }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init))
  }

  /// What bash offers for the words, of which the last is being typed.
  func bash(_ words: [String]) throws -> [String] {
    let code = """
      source ./script.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tool
      printf '%s\\n' "${COMPREPLY[@]}"
      """
    return try run(["bash", "--norc", "-c", code, "bash"] + words).lines
  }

  /// What fish offers for the line.
  func fish(_ line: String) throws -> [String] {
    let code = "source ./script.fish; complete -C \"$argv[1]\""
    return try run(["fish", "--no-config", "-c", code, line]).lines.map { String($0.prefix { $0 != "\t" }) }
  }

  /// What zsh offers for the words, of which the last is being typed: its building blocks are replaced by printing.
  func zsh(_ words: [String]) throws -> [String] {
    let code = """
      setopt extended_glob; compdef() { }
      compadd() { shift; print -rl -- ${(M)@:#$PREFIX*} }
      _describe() { [[ $1 == -o ]] && shift; local -a them; them=("${(@P)2}"); print -rl -- ${(M)${them%%:*}:#$PREFIX*} }
      _files() { print -r -- files "$@" }
      compset() { PREFIX=${PREFIX#*=} }
      source ./script.zsh; words=("$@"); CURRENT=$#; PREFIX=${@[-1]}; _tool
      """
    return try run(["zsh", "-f", "-c", code, "zsh"] + words).lines
  }
}

@Test("a completion script is valid in its shell and as recorded", arguments: CompletionShell.allCases)
func scriptsAreValid(shell: CompletionShell) throws {
  let name = "script.\(shell.rawValue)"
  let check = try Scripts().run([shell.rawValue, "-n", name])
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
  let scripts = try Scripts()
  #expect(Set(try scripts.bash(typed(words))) == expected)
  #expect(Set(try scripts.zsh(typed(words))).subtracting(["files"]) == expected)
}

@Test("fish offers what can stand at the cursor", arguments: offers)
func fishOffers(words: String, expected: Set<String>) throws {
  #expect(Set(try Scripts().fish("tool \(words)")) == expected)
}

@Test("the value after an equals sign is completed in every shell")
func valuesAfterEqualsSign() throws {
  let scripts = try Scripts()
  #expect(try scripts.bash(["tool", "fetch", "cities", "--order", "=", "re"]) == ["revenue"])
  #expect(try scripts.bash(["tool", "fetch", "cities", "--order", "="]).count == 3)
  #expect(try scripts.bash(["tool", "fetch", "cities", "--order=re"]) == ["--order=revenue"])
  #expect(try scripts.zsh(["tool", "fetch", "cities", "--order=re"]) == ["revenue"])
  #expect(try scripts.fish("tool fetch cities --order=re") == ["--order=revenue"])
}

@Test("files and folders are offered where they are expected")
func filesAndFolders() throws {
  let scripts = try Scripts()
  #expect(Set(try scripts.bash(["tool", "--config", ""])) == ["a.json", "some folder"])
  #expect(try scripts.bash(["tool", "--home", ""]) == ["some folder"])
  #expect(Set(try scripts.bash(["tool", "ls", "a.json", "b"])) == ["b.txt"])
  #expect(try scripts.zsh(["tool", "--config", ""]) == ["files -g *.(json)"])
  #expect(try scripts.zsh(["tool", "ls", "--home", ""]) == ["files -/"])
  #expect(try scripts.fish("tool ls --home som") == ["some folder/"])
  #expect(try scripts.fish("tool ls b").contains("b.txt"))
}
