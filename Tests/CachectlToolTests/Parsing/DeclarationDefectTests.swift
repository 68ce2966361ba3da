import CommandLineKit
import CacheCore
import FetchVocabulary
import EngineAPI
import Testing

@testable import CachectlTool
@testable import CacheConfiguration

/// The mistakes that the author of a program can make in its lists.
struct DeclarationDefectTests {
  /// Options of a resource that is called as `Name` says.
  struct Options<Name: Named>: ExplainableOptions {
    static var resourceName: String { Name.name }

    func snapshots(_ context: ResourceContext, _ options: FetchOptions) throws(CacheError) -> Snapshots<Int> {
      throw CacheError(.unsupported, "for tests")
    }
  }

  protocol Named: SendableMetatype { static var name: String { get } }
  enum Tides: Named { static let name = "tides" }
  enum Surf: Named { static let name = "tides" }
  enum Cities: Named { static let name = "cities" }
  enum Waves: Named { static let name = "waves" }

  struct Command<Name: Named>: ParsableCommand {
    static var configuration: CommandConfiguration { CommandConfiguration(commandName: Name.name) }
  }

  private static func resource<Name: Named>(_: Name.Type) -> ToolResource {
    ToolResource(noun: "tides", QueriesCommand.self, explain: Options<Name>.self)
  }

  @Test(
    arguments: [
      ([], nil), ([resource(Tides.self), resource(Waves.self)], nil),
      ([resource(Tides.self), resource(Surf.self)], "two resources are called 'tides'"),
      ([resource(Cities.self)], "two resources are called 'cities'"),
    ] as [([ToolResource], String?)])
  func theNamesOfResources(resources: [ToolResource], message: String?) {
    #expect(Cachectl(resources: .standard + resources).declarationDefect?.message == message)
  }

  @Test(
    arguments: [
      ([Command<Tides>.self, Command<Waves>.self], nil),
      ([Command<Tides>.self, Command<Surf>.self], "two commands are called 'tides'"),
      ([QueriesCommand.self], "two commands are called 'queries'"),
      ([FetchCommand.self], "two commands are called 'fetch'"),
    ] as [([any ParsableCommand.Type], String?)])
  func theNamesOfCommands(commands: [any ParsableCommand.Type], message: String?) {
    #expect(Cachectl(commands: .standard + commands).declarationDefect?.message == message)
  }

  @Test func aDefectHasItsStatus() throws {
    let defect = try #require(Cachectl(resources: .standard + .standard).declarationDefect)
    let failure = Failure(defect)
    #expect(failure.status == ExitCode(70) && failure.view.code == "defect")
  }

  @Test func theDeclarationsOfTheProgramHaveNoMistakes() {
    #expect(CachectlCommand.declarationDefects == [])
  }

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
    let error = try #require(throws: ConfigurationError.self) { try loader.load() }
    #expect(error.code == .defect && error.message == message, "\(error.message)")
    #expect(ExitCode(error) == ExitCode(70) && loader.problems() == [error])
  }
}
