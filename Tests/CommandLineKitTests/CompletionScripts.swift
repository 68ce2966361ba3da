import ChildProcesses
import CommandLineKit
import Foundation

/// A directory with a completion script for each shell, and some files to complete. It is deleted with the value.
final class CompletionScripts {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "completion-\(UUID().uuidString)")

  init() throws {
    try FileManager.default.createDirectory(
      at: folder.appending(path: "some folder"), withIntermediateDirectories: true)
    for shell in CompletionShell.allCases {
      try Data(Tool.completionScript(for: shell).utf8).write(to: folder.appending(path: "script.\(shell.rawValue)"))
    }
    // By another process: a shell that is started meanwhile would inherit the open file, and the program would be busy.
    _ = try run(["sh", "-c", "printf %s \"$1\" > tool; chmod +x tool", "sh", Self.program])
    for name in ["a.json", "b.txt", "c.log"] { try Data().write(to: folder.appending(path: name)) }
  }

  /// The program that the scripts ask: it records its arguments, and prints the result for them.
  private static let program = """
    #!/bin/sh
    printf '<%s>' "$@" > asked
    cat "answer$(tr -c a-z0-9 _ < asked)"
    echo chatter >&2
    exit 1
    """

  /// Sets the output of the program for `question`, its arguments, each in angle brackets.
  func answer(_ text: String, to question: String) throws {
    let name = String(question.map { "abcdefghijklmnopqrstuvwxyz0123456789".contains($0) ? $0 : "_" })
    try Data(text.utf8).write(to: folder.appending(path: "answer\(name)"))
  }

  /// The words with which the program was run last, each in angle brackets.
  func question() throws -> String {
    try String(contentsOf: folder.appending(path: "asked"), encoding: .utf8)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// Runs a program in the folder, and gives its status and the lines of both its outputs.
  func run(_ command: [String]) throws -> (status: Int32, lines: [String]) {
    let path = "\(folder.path):\(ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")"
    let process = try FinishedProcess(
      running: command, variables: ["HOME": folder.path, "TERM": "dumb", "PATH": path], in: folder.path)
    return (process.status, (process.output + process.errors).split(separator: "\n").map(String.init))
  }

  /// Returns the words that bash offers; the last of `words` is being typed.
  func bash(_ words: [String]) throws -> [String] {
    let code = """
      source ./script.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tool
      printf '%s\\n' "${COMPREPLY[@]}"
      """
    return try run(["bash", "--norc", "-c", code, "bash"] + words).lines
  }

  /// Returns the words that fish offers for the line.
  func fish(_ line: String) throws -> [String] {
    let code = "source ./script.fish; complete -C \"$argv[1]\""
    return try run(["fish", "--no-config", "-c", code, line]).lines.map { String($0.prefix { $0 != "\t" }) }
  }

  /// Returns each line after an interactive zsh has completed its end.
  func interactiveZsh(_ lines: [String]) throws -> [String] {
    try FileManager.default.copyItem(at: folder.appending(path: "script.zsh"), to: folder.appending(path: "_tool"))
    let code = """
      zmodload zsh/zpty
      zpty z zsh -f -i
      zpty -w z 'fpath=($PWD $fpath); autoload -Uz compinit; compinit -D -u'
      zpty -w z 'complete-and-show() { zle complete-word; print -r -- "<<$BUFFER>>"; zle kill-whole-line }'
      zpty -w z 'zle -N complete-and-show; bindkey "^X" complete-and-show; print REA""DY'
      zpty -r z output '*READY*'
      for line in "$@"; do
        zpty -w -n z "$line"$'\\x18'
        zpty -r z output '*<<*>>*'
        output=${output##*<<}
        print -r -- ${output%%>>*}
      done
      """
    return try run(["timeout", "60", "zsh", "-f", "-c", code, "zsh"] + lines).lines
  }

  /// Returns the words that zsh offers; the last of `words` is being typed. Functions that print replace zsh's building
  /// blocks.
  func zsh(_ words: [String]) throws -> [String] {
    let code = """
      setopt extended_glob; compdef() { }
      _describe() { print -rl -- "${(@M)${(@P)2}:#${(Q)PREFIX}*}" }
      _files() { print -r -- files "$@" }
      compset() { PREFIX=${PREFIX#*=} }
      source ./script.zsh; words=("$@"); CURRENT=$#; PREFIX=${@[-1]}; _tool
      """
    return try run(["zsh", "-f", "-c", code, "zsh"] + words).lines
  }
}
