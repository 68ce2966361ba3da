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
  #expect(text == recorded, "\(name) differs; RECORD_GOLDEN=1 records it anew")
}

@Test(
  "help is as recorded", arguments: ["", "fetch", "fetch cities", "fetch url", "ls", "rm", "backends", "shift"])
func helpIsAsRecorded(command: String) throws {
  let name = (["help", "tool"] + words(command)).joined(separator: "-") + ".txt"
  try expectGolden(try Tool.helpMessage(for: words(command)), name)
}

@Test("help for a narrow terminal is as recorded", arguments: [40, 60])
func narrowHelpIsAsRecorded(columns: Int) throws {
  let text = try Tool.helpMessage(for: ["fetch", "cities"], columns: columns)
  try expectGolden(text, "help-tool-fetch-cities-\(columns).txt")
  #expect(text.split(separator: "\n").allSatisfy { $0.count <= columns })
}

@Test("help of an unknown command is a mistake")
func helpOfUnknownCommand() {
  #expect(throws: CommandLineError.self) { try Tool.helpMessage(for: ["nothing"]) }
}

private struct Say: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "say", abstract: "Say something",
    discussion: """
      Examples:
        say hello
        say --to everyone --with 'one long text' | tee said.txt
        say --to everyone --quietly --with a-long-word-that-fits-nowhere-whatever
      """)
}

@Test("a command in the examples is continued as its reader would write it")
func longExamplesAreContinued() throws {
  let text = try Say.helpMessage(for: [], columns: 40)
  #expect(
    text.contains(
      """
      Examples:
        say hello
        say --to everyone \\
            --with 'one long text' | tee \\
            said.txt
        say --to everyone --quietly \\
            --with a-long-word-that-fits-nowhere-whatever

      """), "\(text)")
  #expect(try Say.helpMessage(for: [], columns: 80).contains("'one long text' | tee said.txt\n"))
}
