import CommandLineKit
import Foundation
import Testing

/// The folder of the recorded texts.
private let golden = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden")

/// Compares `text` with the recorded file, or records it where RECORD_GOLDEN=1 is set.
func expectGolden(_ text: String, _ name: String) throws {
  let file = golden.appending(path: name)
  if ProcessInfo.processInfo.environment["RECORD_GOLDEN"] == "1" {
    try Data(text.utf8).write(to: file)
  }
  let recorded = try String(decoding: Data(contentsOf: file), as: UTF8.self)
  #expect(text == recorded, "\(name) differs; RECORD_GOLDEN=1 records it again")
}

/// The help of the command at `names`.
private func help(
  of root: (some ParsableCommand).Type, _ names: [String], columns: Int = 80
) throws -> String {
  // A command without subcommands has no `help`.
  let words = root.configuration.subcommands.isEmpty ? ["--help"] : ["help"] + names
  guard case .help(let request) = try root.parseAsRoot(words) else { throw CancellationError() }
  return request.text(columns: columns)
}

@Test("help is as recorded", arguments: ["", "fetch cities", "backends"])
func helpIsAsRecorded(command: String) throws {
  let name = (["help", "tool"] + words(command)).joined(separator: "-") + ".txt"
  try expectGolden(try help(of: Tool.self, words(command)), name)
}

@Test("help for a narrow terminal is as recorded")
func narrowHelpIsAsRecorded() throws {
  let text = try help(of: Tool.self, ["fetch", "cities"], columns: 40)
  try expectGolden(text, "help-tool-fetch-cities-40.txt")
  #expect(text.split(separator: "\n").allSatisfy { $0.count <= 40 })
}

@Test(
  "a page that is about no command has its name after help",
  arguments: [
    ("global", "Show the options of every command\n\nGLOBAL OPTIONS\n", "--config"),
    ("colors", "Show the colors\n\nCOLORS\n", "red  An error."),
    ("help", "Show the help of a command\n\nHELP\n", "help colors"),
  ])
func topics(name: String, start: String, row: String) throws {
  let text = try help(of: Tool.self, [name])
  #expect(text.hasPrefix(start) && text.contains(row), "\(text)")
}

@Test("the given usage replaces the one that declarations give")
func usage() throws {
  struct Given: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "given", usage: "given URL [options]\ngiven --all [options]")
    @Flag var all = false
  }
  #expect(try help(of: Given.self, []).contains("Usage: given URL [options]\n       given --all [options]\n"))
}

@Test("help of an unknown command is a mistake")
func helpOfUnknownCommand() {
  #expect(throws: CommandLineError.self) { try help(of: Tool.self, ["nothing"]) }
}

private struct Say: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "say", abstract: "Say something to somebody, or to everybody who listens",
    examples: ["say --to everyone --with 'one long text' | tee said.txt"])
}

@Test("text is wrapped, and a command in the examples stays on its line")
func examplesStay() throws {
  let text = try help(of: Say.self, [], columns: 40)
  #expect(text.hasPrefix("Say something to somebody, or to\neverybody who listens\n"), "\(text)")
  #expect(text.contains("EXAMPLES\n  say --to everyone --with 'one long text' | tee said.txt\n"), "\(text)")
}
