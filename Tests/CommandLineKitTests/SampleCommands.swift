import CommandLineKit

/// A program small enough to read and large enough to need every kind of declaration.
struct Tool: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tool", abstract: "Keeps responses in a cache",
    discussion: "It is a sample.", examples: ["tool fetch cities --order revenue", "tool --backend lmdb ls"],
    version: "tool 1.2.3", subcommands: [Shift.self],
    groupedSubcommands: [
      CommandGroup(name: "Fetch", subcommands: [Fetch.self]),
      CommandGroup(name: "Look", subcommands: [List.self, Remove.self, Backends.self]),
    ],
    topics: [
      HelpTopic(
        "global", abstract: "Show the options of every command", title: "Global options", options: GlobalOptions.self),
      HelpTopic("colors", abstract: "Show the colors", title: "Colors", rows: [("red", "An error.")]),
    ])
}

struct GlobalOptions: ParsableArguments {
  @Option(help: "The configuration to use", completion: .file(extensions: ["json", "txt"]))
  var config: String?

  @Option(help: "The engine to use", completion: .list(["memory", "sqlite", "lmdb"]))
  var backend: String?

  @Option(help: "Where stores live", completion: .directory)
  var home: String?

  @Option(help: "How to write the answer")
  var output = OutputFormat.table

  @Flag(name: .shortAndLong, help: "Say nothing but errors")
  var quiet = false

  @Flag(name: .shortAndLong, help: "Say more")
  var verbose = false

  @Flag(help: "Use no colour")
  var noColor = false

  mutating func validate() throws(ValidationError) {
    if quiet, verbose { throw ValidationError("'--quiet' and '--verbose' exclude each other") }
  }
}

enum OutputFormat: String, CaseIterable, ExpressibleByArgument { case table, json, ndjson, csv }

enum Order: String, CaseIterable, ExpressibleByArgument { case revenue, organizations, name }

struct Fetch: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Fetch a resource", subcommands: [FetchCities.self, FetchURL.self])
}

struct FetchCities: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "cities", abstract: "Show cities, ordered")

  @Option(name: .shortAndLong, help: "What to order the cities by, the greatest first unless told otherwise")
  var order = Order.revenue

  @Option(help: "The page, from 0", completion: .default)
  var page: Int = 0

  @Option(name: .shortAndLong, help: ArgumentHelp("How many to show", valueName: "n"))
  var limit: Int?

  @Flag(name: .shortAndLong, help: "Show all pages")
  var all = false

  @OptionGroup(title: "Global options")
  var globals: GlobalOptions

  mutating func validate() throws(ValidationError) {
    if all, limit != nil { throw ValidationError("'--all' and '--limit' exclude each other") }
  }

  mutating func run() async throws { limit = 42 }
}

struct FetchURL: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "url", abstract: "Fetch any URL")

  @Argument(help: "The address")
  var url: String

  @Option(name: .customLong("header"), help: ArgumentHelp("A header to send", valueName: "name: value"))
  var headers: [String] = []

  @Option(help: "The method")
  var method = "GET"

  @Option(name: [.customShort("d"), .long], help: "The body")
  var data: String?

  @OptionGroup(title: "Global options")
  var globals: GlobalOptions
}

struct List: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "ls", abstract: "List entries")

  @Option(help: "Only entries of this age in hours, which may be negative")
  var age: Double?

  @Argument(help: "Files to look at", completion: .file())
  var files: [String] = []

  @OptionGroup(title: "Global options")
  var globals: GlobalOptions

  mutating func run() { age = 7 }
}

extension CompletionKind {
  /// The keys that begin with the word that is being typed.
  fileprivate static var keys: CompletionKind {
    .custom { request in
      ["cities/v1/order=name/page=0", "cities/v1/order=name/page=1", "movies/v1/query=a%20b"].filter {
        $0.hasPrefix(request.beginning)
      }
    }
  }

  fileprivate static var namespaces: CompletionKind { .custom { _ in ["cities", "movies"] } }
}

struct Remove: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "rm", abstract: "Remove entries")

  @Argument(help: "The keys", completion: .keys)
  var keys: [String]

  @Option(help: "Only entries of this namespace", completion: .namespaces)
  var namespace: String?

  @OptionGroup(title: "Global options")
  var globals: GlobalOptions
}

struct Backends: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show the engines", subcommands: [ListBackends.self, ShowBackend.self],
    defaultSubcommand: ListBackends.self)
}

struct ListBackends: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "list", abstract: "List the engines")

  @OptionGroup(title: "Global options")
  var globals: GlobalOptions
}

struct ShowBackend: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "show", abstract: "Show an engine")

  @Argument(help: "The engine", completion: .list(["memory", "sqlite", "lmdb"]))
  var name: String

  @OptionGroup(title: "Global options")
  var globals: GlobalOptions
}

struct Shift: ParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Copy a store into another engine")

  @Option(help: ArgumentHelp("The engine to read", valueName: "backend"), completion: .list(["a:b"]))
  var from: String

  @Option(help: "How many bytes at once")
  var chunk: UInt8 = 16

  @Flag(name: .customLong("dry-run"), help: "Change nothing")
  var isDry = false

  @OptionGroup(title: "Global options")
  var globals: GlobalOptions
}
