import CacheBase
import CacheCore
import CachePresentation
import CommandLineKit
import EngineAPI
import FetchVocabulary
import Testing
@testable import CacheConfiguration
@testable import CachectlTool

/// The mistakes that the author of a program can make in its lists.
struct DeclarationDefectTests {
  /// `fetch` with a list in which a resource appears twice.
  struct Repeated: ParsableCommand {
    static var configuration: CommandConfiguration {
      CommandConfiguration(
        commandName: "fetch", subcommands: ([ToolResource].standard + [.cities]).map { $0.fetch() })
    }
  }

  @Test func twoResourcesOfOneNameAreFound() {
    #expect(Repeated.declarationDefects == ["two commands are called 'fetch cities'"])
  }

  @Test func theDeclarationsOfTheProgramHaveNoMistakes() { #expect(CachectlCommand.declarationDefects == []) }

  struct TidesSettings: ConfigurationSection {
    static var path: String { "origin.tides" }
    init(_ keys: inout SectionReader) { _ = keys.boolean("isHigh", default: true, help: "whether it is high") }
  }

  struct SurfSettings: ConfigurationSection {
    static var path: String { "origin.tides" }
    init(_ keys: inout SectionReader) {
      _ = keys.integer("height", default: 1, in: 0...9, help: "how high it is")
      _ = keys.boolean("isHigh", default: true, help: "whether it is high")
    }
  }

  struct SQLiteSettings: ConfigurationSection {
    static var path: String { "backends.sqlite" }
    init(_ keys: inout SectionReader) { _ = keys.optionalPath("path", help: "where it is") }
  }

  @Test(
    arguments: [
      ([TidesSettings.self], nil),
      (
        [TidesSettings.self, SurfSettings.self],
        "the key 'origin.tides.isHigh' is declared twice: in TidesSettings and in SurfSettings"
      ),
      (
        [SQLiteSettings.self],
        "the key 'backends.sqlite.path' is declared twice: in the engine sqlite and in SQLiteSettings"
      ),
    ] as [([any ConfigurationSection.Type], String?)])
  func theKeysOfTheConfiguration(sections: [any ConfigurationSection.Type], message: String?) throws {
    let loader = ConfigurationLoader(
      engines: Fixtures.engines, sections: Fixtures.sections + sections, environment: [:],
      workingDirectory: "/project", userHome: "/home/ada", readFile: { _ in nil })
    guard let message else {
      try loader.checkDeclarations()
      return #expect(loader.problems() == [])
    }
    let error = try #require(throws: ConfigurationError.self) { try loader.checkDeclarations() }
    #expect(error.code == .defect && error.message == message, "\(error.message)")
    #expect(ExitCode(error) == ExitCode(70) && loader.problems() == [error])
  }
}

/// Every number that the command line takes, at the limits of its type. Nothing is run.
@Suite struct NumericOptionTests {
  /// An option, the command that it is tried with, and the accepted ones among `numbers`.
  struct Row: Sendable, CustomStringConvertible {
    let command: [String]
    let option: String
    let accepted: Set<String>

    init(_ command: String, _ option: String, _ accepted: Set<String>) {
      self.command = command.split(separator: " ").map(String.init)
      (self.option, self.accepted) = (option, accepted)
    }

    var description: String { "\(command.joined(separator: " ")) \(option)" }
  }

  static let greatest = String(Int.max)
  static let numbers = [
    "0", "1", "-1", "9", greatest, String(Int.min), "9223372036854775808", String(UInt64.max), "18446744073709551616",
    "1.5", "1e3", "0x10", " 1", "1_000", "nan", "inf", "", "\(greatest)k", "9223372036854776k", "1k", "1K",
    "0s", "9s", "-9s", "\(greatest)ms", "\(greatest)s", "\(greatest)d", "106751991167d", "106751991168d",
    "4KiB", "\(greatest)B", "\(greatest)KiB", "8388608TiB",
  ]
  static let durations: Set = ["0s", "9s", "\(greatest)ms", "106751991167d"]
  static let natural: Set = ["0", "1", "9", greatest]

  static let rows = [
    Row("fetch cities", "--page", natural), Row("fetch cities", "--limit", natural),
    Row("fetch cities --all", "--limit", natural), Row("explain cities", "--page", natural),
    Row("fetch movies --query x", "--page", ["1", "9", greatest]), Row("fetch movies --query x", "--limit", natural),
    Row("queries", "--limit", natural), Row("ls", "--limit", ["1", "9", greatest]),
    Row("fetch poster /1.png --out x", "--width", ["1", "9", greatest]), Row("fetch cities", "--max-age", durations),
    Row("fetch cities", "--max-stale", durations), Row("rm", "--older-than", durations),
    Row("bench", "--entries", ["1", "9", "1k", "1K"]), Row("bench", "--operations", ["1", "9", "1k", "1K"]),
    Row("bench", "--threads", ["1", "9"]), Row("bench", "--processes", ["1", "9"]),
    Row("bench", "--rounds", ["1", "9"]), Row("bench", "--value-size", ["0", "1", "9", "4KiB"]),
    Row("bench", "--seed", natural.union(["9223372036854775808", String(UInt64.max)])),
    Row("backends test memory", "--seed", natural.union(["9223372036854775808", String(UInt64.max)])),
    Row("backends test memory", "--timeout", durations.subtracting(["0s"])),
  ]

  @Test(arguments: rows) func valuesOutOfRangeAreRefusedInASentence(_ row: Row) {
    for number in Self.numbers {
      do throws(CommandLineError) {
        _ = try CachectlCommand.parseAsRoot(row.command + ["\(row.option)=\(number)"])
        #expect(row.accepted.contains(number), "'\(number)' was accepted")
      } catch {
        #expect(!row.accepted.contains(number), "'\(number)' was refused: \(error)")
        #expect(error.exitCode == .validationFailure && error.message.contains(row.option), "'\(number)': \(error)")
        #expect(!error.description.contains("\n"))
      }
    }
  }

  @Test(arguments: ["0", "7"]) func aWalkOverAllPagesBeginsAtTheFirst(page: String) {
    #expect(throws: CommandLineError.self) {
      try CachectlCommand.parseAsRoot(["fetch", "cities", "--all", "--page", page])
    }
  }
}

/// The exit status for each kind of failure.
struct ExitStatusTests {
  @Test(
    arguments: [
      (CacheError.Code.invalidRequest, 64), (.invalidKey, 64), (.damaged, 65), (.wrongType, 65), (.malformed, 65),
      (.unsupportedFormat, 65), (.notCached, 66), (.notFound, 66), (.originUnreachable, 69), (.invalidAnswer, 69),
      (.unreachable, 69), (.closed, 70), (.cannotCreate, 73), (.noSpace, 74), (.ioFailed, 74), (.tooLarge, 74),
      (.overBounds, 74), (.unsupported, 74), (.failed, 74), (.busy, 75), (.conflict, 75), (.originRefused, 77),
      (.permissionDenied, 77), (.unknownBackend, 78), (.invalidPlugin, 78), (.invalidOption, 78),
      (.originUnavailable, 78), (.cancelled, 130),
    ] as [(CacheError.Code, Int32)])
  func eachCodeHasItsStatus(code: CacheError.Code, status: Int32) {
    #expect(Failure(CacheError(code, "it failed")).status == ExitCode(status))
  }

  /// An engine in a library can have its own codes: its failure is not a defect of the program.
  @Test func anUnknownCodeIsTheFailureOfItsEngine() {
    let failure = Failure(CacheError(CacheError.Code(rawValue: "quotaUsedUp"), "the quota is used up", hint: "wait"))
    #expect(failure.status == .ioFailed)
    #expect(failure.view == ErrorView(code: "quotaUsedUp", message: "the quota is used up", hint: "wait"))
  }

  @Test func anyOtherErrorIsADefect() {
    struct Surprise: Error {}
    let failure = Failure(Surprise())
    #expect(failure.status == .defect && failure.view.code == "defect")
  }
}

/// The meaning of the words after `help`.
@Suite struct HelpRequestTests {
  @Test(arguments: [
    ("help", "cachectl COMMAND"), ("help fetch", "cachectl fetch URL"),
    ("help ls", "cachectl ls"), ("help ls --help", "cachectl ls"), ("help config show", "cachectl config show"),
    ("help completion bash", "cachectl completion SHELL"), ("--output json help ls", "cachectl ls"),
    ("help show a/b", "cachectl show KEY|URL"),
  ])
  func theCommandIsDescribed(words: String, usage: String) throws {
    let parsed = try CachectlCommand.parseAsRoot(words.split(separator: " ").map(String.init))
    guard case .help(let request) = parsed else {
      Issue.record("\(parsed)")
      return
    }
    #expect(request.text().contains("\nUsage: \(usage) "), "\(request.text())")
  }

  @Test(arguments: ["help help", "help --help", "help help ls"]) func helpIsDescribed(words: String) throws {
    let parsed = try CachectlCommand.parseAsRoot(words.split(separator: " ").map(String.init))
    guard case .help(let request) = parsed else { throw CancellationError() }
    #expect(request.text().contains("help exit-codes"), "\(request.text())")
  }

  @Test(arguments: [
    ("help ls --output json", "'help' has no option '--output': it takes the name of a command and nothing else."),
    ("help stats json", "unexpected argument 'json': see 'cachectl help stats'"),
    ("help exit-code", "unknown command 'exit-code': did you mean 'exit-codes'?"),
    ("help config sho", "unknown command 'config sho': did you mean 'show'?"), ("help nothing", "unknown command"),
  ])
  func meaninglessCombinationsAreRefused(words: String, message: String) {
    let error = #expect(throws: CommandLineError.self) {
      try CachectlCommand.parseAsRoot(words.split(separator: " ").map(String.init))
    }
    #expect(error?.description.hasPrefix(message) == true, "\(String(describing: error))")
    #expect(error?.exitCode == .validationFailure)
  }
}

/// When `--require-store` makes an error of a response that the cache did not store.
@Suite struct WriteFailuresTests {
  @Test(
    arguments: [
      ("tooLarge", false, nil, true), ("noSpace", false, nil, true), ("overBounds", false, nil, true),
      ("busy", false, nil, true), ("damaged", false, nil, true), ("unreachable", false, nil, true),
      // The store failed to read an old entry, and kept the new one.
      ("damaged", true, nil, false),
      // A stale entry is served because the origin cannot be reached.
      ("originUnreachable", true, nil, false), ("invalidAnswer", true, nil, false), (nil, true, nil, false),
      // The origin forbids storing its response.
      (nil, false, "no-store", true),
      // A newer response is stored in its place.
      (nil, false, nil, false),
    ] as [(String?, Bool, String?, Bool)])
  func aResponseThatIsNotStoredIsAnError(code: String?, isStored: Bool, refusal: String?, isFailure: Bool) throws {
    let warnings = code.map { [CacheWarning(.storing, CacheError(CacheError.Code(rawValue: $0), "it failed"))] } ?? []
    let entry = EntryFacts(
      key: "cities/a", storedAt: .seconds(1), freshUntil: .seconds(2), now: .seconds(1), isStored: isStored,
      refusal: refusal)
    let snapshot = Snapshot(value: 1, source: .origin, entry: entry, warnings: warnings)
    for isRequired in [false, true] {
      let words = ["fetch", "cities"] + (isRequired ? ["--require-store"] : [])
      guard case .command(let command as FetchCitiesCommand, _) = try CachectlCommand.parseAsRoot(words) else {
        Issue.record("not parsed")
        return
      }
      var writes = WriteFailures(command.fetch)
      writes.note(snapshot)
      var error: CacheError?
      do throws(CacheError) { try writes.check() } catch let failure { error = failure }
      #expect((error != nil) == (isRequired && isFailure))
      if let error { #expect(ExitCode(error.code) == .ioFailed) }
    }
  }
}

/// A command in a hint repeats the options that select the configuration and the store.
@Suite struct GivenOptionsTests {
  private static let given = "--home '/h h' --backend lmdb"

  @Test(arguments: [
    ("cachectl ls", "cachectl \(given) ls"), ("see: cachectl ls", "see: cachectl \(given) ls"),
    (
      "with: cachectl rm a; or with: cachectl ls, or", "with: cachectl \(given) rm a; or with: cachectl \(given) ls, or"
    ),
    ("see: cachectl backends list", "see: cachectl --home '/h h' backends list"),
    (
      "cachectl --backend sqlite export | cachectl --backend lmdb import",
      "cachectl --home '/h h' --backend sqlite export | cachectl --home '/h h' --backend lmdb import"
    ),
    // These are not commands: a path, the rest of a sentence, a reference to help.
    ("use another path than /my cachectl ls", "use another path than /my cachectl ls"),
    ("use the cachectl that wrote it", "use the cachectl that wrote it"),
    ("see 'cachectl help'", "see 'cachectl help'"),
  ])
  func onlyACommandRepeatsThem(hint: String, expected: String) {
    #expect(GivenOptions(["--home", "/h h", "ls", "--backend=lmdb"]).repeated(in: hint) == expected)
  }
}
