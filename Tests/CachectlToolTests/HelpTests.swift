import Foundation
import Testing
@testable import CachectlTool
@testable import CommandLineKit

/// The help of every command, and the pages that are made of the same declarations.
struct HelpTests {
  /// A command of the program.
  struct Subject: Sendable, CustomStringConvertible {
    let names: [String]
    let type: any ParsableCommand.Type
    var description: String { names.joined(separator: " ") }

    /// The command and those under it.
    var all: [Subject] {
      [self]
        + type.configuration.subcommands.flatMap { Subject(names: names + [$0.commandName], type: $0).all }
    }

    func help(_ columns: Int) throws -> String { try HelpTests.help(Array(names.dropFirst()), columns) }
  }

  static let subjects = Subject(names: ["cachectl"], type: CachectlCommand.self).all

  static func help(_ words: [String], _ columns: Int = 80) throws -> String {
    guard case .help(let request) = try CachectlCommand.parseAsRoot(["help"] + words) else { throw CancellationError() }
    return request.text(columns: columns)
  }

  /// The words of the first command of the program in `line`, as a shell reads it.
  private static func words(_ line: String) -> [String] {
    var (words, word, quote) = ([String](), "", Character?.none)
    for character in line.replacing("<(", with: "< ").replacing(")", with: "") {
      switch character {
      case quote: quote = nil
      case "'" where quote == nil, "\"" where quote == nil: quote = character
      case " " where quote == nil: (words, word) = (words + [word], "")
      default: word.append(character)
      }
    }
    return (words + [word]).drop { $0 != "cachectl" }.dropFirst().prefix { !["|", ">", "<"].contains($0) }
  }

  @Test(arguments: subjects) func examplesAreOfTheCommand(_ subject: Subject) throws {
    let examples = subject.type.configuration.examples
    #expect(!examples.isEmpty)
    for example in examples {
      guard case .command(_, let path) = try CachectlCommand.parseAsRoot(Self.words(example)) else {
        Issue.record("\(example)")
        continue
      }
      #expect(path.starts(with: subject.names), "\(example)")
    }
  }

  /// A placeholder without a list of values is a word of the explanation, as in `--limit N  Show at most N entries`.
  @Test(arguments: subjects) func placeholdersAreExplained(_ subject: Subject) {
    for definition in ArgumentSet(subject.type).definitions {
      let text = definition.help.abstract
      #expect(text.first?.isUppercase == true && text.last != ".", "\(definition.synopsis): \(text)")
      guard definition.kind == .option, definition.valueDescription.allowedValues.isEmpty else { continue }
      let words = text.split { !$0.isLetter }
      for name in definition.placeholder.split(whereSeparator: { !$0.isLetter }) {
        #expect(words.contains(name), "\(definition.synopsis): \(text)")
      }
    }
  }

  @Test(arguments: subjects) func helpFitsTheScreen(_ subject: Subject) throws {
    let configuration = subject.type.configuration
    for columns in [40, 80, 120] {
      let text = try subject.help(columns)
      let start = text.split(separator: "\n", maxSplits: 1)[0]
      #expect(configuration.abstract.hasPrefix(start) && text.contains("\n\nUsage: cachectl "), "\(text)")
      let isLong = text.split(separator: "\n").filter { line in
        line.count > columns && line.split(separator: " ").count > 1
          && !configuration.examples.contains(line.dropFirst(2) + "")
      }
      #expect(isLong == [], "\(columns)")
      let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
      #expect(subject.names.count == 1 || words.hasSuffix(" Global options: see 'cachectl help global'."))
    }
  }

  @Test func theRootShowsTheGroupsAndThePages() throws {
    let lines = try Self.help([]).split(separator: "\n").map(String.init)
    let titles = lines.filter { $0 == $0.uppercased() }
    #expect(
      titles == [
        "EXAMPLES", "FETCH", "INSPECT", "MAINTAIN", "MOVE", "CONFIGURE", "MEASURE", "OPTIONS", "HELP",
      ])
    for topic in ["help COMMAND", "help global", "help exit-codes"] {
      #expect(lines.contains { $0.hasPrefix("  \(topic) ") })
    }
  }

  @Test func aPageHasTheGlobalOptionsAndOneTheExitCodes() throws {
    let options = try Self.help(["global"])
    for option in ArgumentSet(GlobalOptions.self).named { #expect(options.contains(option.synopsis)) }
    let codes = try Self.help(["exit-codes"])
    for code in ExitCode.meanings.map(\.code.rawValue) { #expect(codes.contains("\n  \(code) ")) }
  }

  @Test func everyExitCodeIsThereOnce() {
    #expect(ExitCode.meanings.map(\.code.rawValue) == Set(ExitCode.meanings.map(\.code.rawValue)).sorted())
    let errors = ExitCode.meanings.flatMap(\.errors)
    #expect(errors.count == Set(errors).count)
  }

  @Test(arguments: Reference.pages.map(\.name)) func theReferenceIsCurrent(name: String) throws {
    let page = try #require(Reference.pages.first { $0.name == name })
    let folder = URL(filePath: #filePath).appending(path: "../../../docs/reference").standardized
    let recorded = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
    #expect(page.text == recorded, "Scripts/reference writes the pages again")
  }
}
