import CommandLineKit
import Testing

private struct Faulty: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "faulty", subcommands: [Repeated.self, Misplaced.self, Different.self, SameName.self],
    topics: [HelpTopic("different", abstract: "Show the differences", title: "Differences", rows: [])])

  struct Repeated: ParsableCommand {
    @Option(name: .shortAndLong) var limit: Int?
    @Flag(name: [.customShort("l"), .long]) var all = false
  }

  struct Misplaced: ParsableCommand {
    @Argument() var files: [String]
    @Argument() var target: String
  }

  struct Different: ParsableCommand {
    @Option() var all: String?
  }

  struct SameName: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "repeated")
  }
}

@Test("mistakes in declarations are found")
func findsDeclarationDefects() {
  let expected = [
    "'-l' takes a value in one command and none in another",
    "'-l' is declared twice: for --limit LIMIT and for --all",
    "two commands are called 'faulty repeated'", "two commands are called 'faulty different'",
    "'TARGET' cannot stand after 'FILES...'", "'--all' takes a value in one command and none in another",
  ]
  #expect(Set(Faulty.declarationDefects) == Set(expected))
}

/// A command whose options and shared flags have one name.
private struct Clashing: ParsableCommand {
  struct Shared: ParsableArguments {
    @Flag(help: "Never ask the server") var offline = false
  }

  @OptionGroup(title: "Shared") var shared: Shared
  @Option(help: "Where to work") var offline: String?
}

@Test("a name that two declarations have is a defect of the program, even if it is not used")
func reportsRepeatedName() throws {
  let error = try #require(throws: CommandLineError.self) { try Clashing.parseAsRoot([]) }
  #expect(error.exitCode == ExitCode(70))
  #expect(error.message == "'--offline' is declared twice: for \"Never ask the server\" and for \"Where to work\"")
}

@Test("the sample program has no such mistakes")
func sampleHasNoDefects() { #expect(Tool.declarationDefects.isEmpty) }

private struct Named: ParsableCommand {
  @Flag var noColor = false
  @Flag var baseURL = false
  @Flag var httpURLCount = false
  @Flag(name: .short) var here = false
}

@Test("a command may have a '-h' of its own, and keeps '--help'", arguments: ["-h", "--help"])
func ownShortH(word: String) throws {
  switch try Named.parseAsRoot([word]) {
  case .command(let command as Named, _): #expect(word == "-h" && command.here)
  case .help(let request): #expect(word == "--help" && request.commandPath == ["named"])
  default: Issue.record("'\(word)' is read as something else")
  }
}

@Test("names come from properties in kebab case", arguments: ["--no-color", "--base-url", "--http-url-count"])
func kebabCase(name: String) throws {
  guard case .command(let command as Named, let path) = try Named.parseAsRoot([name]) else {
    Issue.record("'\(name)' is not read as a command")
    return
  }
  #expect([command.noColor, command.baseURL, command.httpURLCount].count { $0 } == 1)
  #expect(path == ["named"])
}
