internal import CommandLineKit
internal import FetchVocabulary
internal import CachePresentation
internal import CacheBase

/// `config`.
struct ConfigCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "config", abstract: "Show, check or make the configuration",
    subcommands: [
      ShowConfiguration.self, ValidateConfiguration.self, InitConfiguration.self, PathOfConfiguration.self,
      SchemaOfConfiguration.self,
    ])
}

/// `config show`.
struct ShowConfiguration: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show the value of every setting",
    discussion: """
      With --output json, and without --origin, it prints a valid configuration file. The table says which limits a \
      server has if those of the cache do not apply to it, and asks the server for them.
      """)

  @Flag(help: "Say of each value where it comes from")
  var origin = false

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func run() async throws {
    let loader = ConfigurationLoader.ofProcess
    let container = try AppDIContainer.ofProcess(global.configurationFlags, loader: loader)
    global.warn(ofIgnoredVariables: loader)
    let limits = global.output == .table ? await container.limitsOfServer() : nil
    try global.show(SettingsView(container.configuration, showsOrigin: origin, limits: limits))
  }
}

/// `config schema`.
struct SchemaOfConfiguration: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "schema", abstract: "Print the JSON Schema of the configuration file")

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func run() throws {
    try ConfigurationLoader.ofProcess.checkDeclarations()
    try Console.output.write(Cachectl.current.configurationSchema)
  }
}

/// `config path`.
struct PathOfConfiguration: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "path", abstract: "Show where the configuration is looked for, and which file is used")

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func run() throws {
    // A file that cannot be read is shown too; `config validate` says what is wrong with it.
    let file = ConfigurationLoader.ofProcess.file(global.configurationFlags)
    try global.show(
      PathView(path: file.path, exists: access(file.path, F_OK) == 0, source: file.source.description))
  }
}

/// `config validate`.
struct ValidateConfiguration: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "validate", abstract: "Check a configuration file, and list everything that is wrong with it",
    discussion: "Without FILE, the one is checked that would be used. The status is 78 if something is wrong.")

  @Argument(help: "The file to check", completion: .file(extensions: ["json"]))
  var file: String?

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func run() throws {
    var flags = global.configurationFlags
    if let file { flags.file = file }
    let loader = ConfigurationLoader.ofProcess
    let problems = loader.problems(flags)
    global.warn(ofIgnoredVariables: loader)
    if problems.isEmpty, let error = unusableEngine(flags) {
      try global.show(ProblemsView([ErrorView(error)]))
      throw ExitCode(error.code)
    }
    try global.show(ProblemsView(problems.map { ErrorView($0) }))
    let statuses = problems.map { ExitCode($0) }
    if let status = [.badConfiguration, .refused].first(where: statuses.contains) ?? statuses.first { throw status }
  }

  /// The error with which every command would refuse the engine, although each setting is valid; `nil` if there is
  /// none.
  private func unusableEngine(_ flags: ConfigurationFlags) -> CacheError? {
    guard let container = try? AppDIContainer.ofProcess(flags) else { return nil }
    do throws(CacheError) { _ = try container.engine(container.configuration.backend) } catch { return error }
    return nil
  }
}

/// `config init`.
struct InitConfiguration: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "init", abstract: "Write a configuration file that shows every setting with its default",
    discussion: "Without FILE, the user's own file is written (see `cachectl config path`). An existing file is kept.")

  @Argument(help: "The file to write; - for the standard output", completion: .file(extensions: ["json"]))
  var file: String?

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func run() throws {
    try ConfigurationLoader.ofProcess.checkDeclarations()
    let text = Cachectl.current.configurationExample
    if file == "-" { return try Console.output.write(text) }
    let path = file ?? ConfigurationLoader.ofProcess.file(global.configurationFlags).path
    if file == nil { try AtomicFile.makeFolders(above: path) }
    try AtomicFile.write(Array(text.utf8), to: path, replacing: false)
    global.remark(StatusLine(["Wrote \(path)"]))
  }
}

extension GlobalOptions {
  /// Warns of environment variables that look like settings and are none.
  fileprivate func warn(ofIgnoredVariables loader: ConfigurationLoader) {
    for variable in loader.ignoredVariables { warn(ErrorView(variable)) }
  }
}
