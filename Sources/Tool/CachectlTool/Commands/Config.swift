struct ConfigCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "config", abstract: "Show, check or write the configuration",
    discussion: "Options override variables, which override the file, which overrides the defaults.",
    examples: ["cachectl config show --origin", "cachectl config init"],
    subcommands: [
      ShowConfiguration.self, ValidateConfiguration.self, InitConfiguration.self, PathOfConfiguration.self,
      SchemaOfConfiguration.self,
    ])
}

struct ShowConfiguration: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show the value of every setting",
    discussion: """
      With --output json, and without --origin, it prints a valid configuration file. If the store is on a server that has its \
      own limits, the table also shows them.
      """,
    examples: ["cachectl config show --origin", "cachectl config show --output json > config.json"])

  @Flag(help: "Show the source of each value")
  var origin = false

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func run() async throws {
    let loader = ConfigurationLoader.ofProcess
    let container = try AppDIContainer.ofProcess(global.configurationFlags, loader: loader)
    global.warn(ofIgnoredVariables: loader)
    let limits = global.output == .table ? await container.limitsOfServer() : nil
    try global.show(ListView(container.configuration, showsOrigin: origin, limits: limits))
  }
}

/// `config schema`.
struct SchemaOfConfiguration: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "schema", abstract: "Print the JSON Schema of the configuration file",
    examples: ["cachectl config schema > cachectl.schema.json"])

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func run() throws {
    try ConfigurationLoader.ofProcess.checkDeclarations()
    try Console.output.write(ConfigurationLoader.ofProcess.schema)
  }
}

/// `config path`.
struct PathOfConfiguration: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "path", abstract: "Show the path of the configuration file, and whether it exists",
    examples: ["cachectl config path"])

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func run() throws {
    // A file that cannot be read is shown too; `config validate` says what is wrong with it.
    let file = ConfigurationLoader.ofProcess.file(global.configurationFlags)
    let exists = access(file.path, F_OK) == 0
    try global.show(ListView(path: file.path, exists: exists, source: file.source.description))
  }
}

/// `config validate`.
struct ValidateConfiguration: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "validate", abstract: "Check a configuration file, and list every mistake",
    discussion: "Without FILE, it checks the file that other commands use. The exit code is 78 if there is a mistake.",
    examples: ["cachectl config validate", "cachectl config validate ./config.json"])

  @Argument(help: "The file to check", completion: .file(extensions: ["json"]))
  var file: String?

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func run() throws {
    var flags = global.configurationFlags
    if let file { flags.file = file }
    let loader = ConfigurationLoader.ofProcess
    let (configuration, problems) = loader.read(flags)
    global.warn(ofIgnoredVariables: loader)
    if let error = configuration.flatMap(unusableEngine) {
      try global.show(ListView([ErrorView(error)]))
      throw ExitCode(error.code)
    }
    try global.show(ListView(problems.map { ErrorView($0) }))
    let statuses = problems.map { ExitCode($0) }
    if let status = [.badConfiguration, .refused].first(where: statuses.contains) ?? statuses.first { throw status }
  }

  /// The error with which every command would refuse the engine, although each setting is valid; `nil` if there is
  /// none.
  private func unusableEngine(_ configuration: Configuration) -> CacheError? {
    do throws(CacheError) { _ = try AppDIContainer.ofProcess(configuration).engine(configuration.backend) } catch {
      return error
    }
    return nil
  }
}

/// `config init`.
struct InitConfiguration: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "init", abstract: "Write a configuration file with every setting and its default",
    discussion: "Without FILE, it writes the file that `cachectl config path` names. An existing file is kept.",
    examples: ["cachectl config init", "cachectl config init -"])

  @Argument(help: "The file to write; - is stdout", completion: .file(extensions: ["json"]))
  var file: String?

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func run() throws {
    try ConfigurationLoader.ofProcess.checkDeclarations()
    let text = ConfigurationLoader.ofProcess.example
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

extension AppDIContainer {
  /// The limits of the configured store if its engine is not `bounded`; `nil` if those of the cache apply. It asks the
  /// server, and says why if that does not respond.
  func limitsOfServer() async -> String? {
    guard let (plugin, options) = try? engine(configuration.backend) else { return nil }
    if plugin.declaration.capabilities.contains(.bounded) { return nil }
    let limits: String?
    do throws(CacheError) { limits = try await plugin.inspect(options).limits } catch { limits = error.message }
    return plugin.declaration.text(ofLimits: limits)
  }
}

extension ListView<ConfigurationEntry> {
  /// The settings of `configuration`, in the order of the schema; `showsOrigin` adds the origin of each, and the file. `limits`
  /// says what limits the store if those of the cache do not apply.
  ///
  /// Without origins the document is a valid configuration itself.
  init(_ configuration: Configuration, showsOrigin: Bool, limits: String? = nil) {
    @Sendable func columns(isNarrow: Bool) -> [Column<ConfigurationEntry>] {
      let columns: [Column<ConfigurationEntry>] = [
        Column("key", .init("Setting")) { .string($0.key) },
        Column("value", .init("Value", isShrinkable: true), cell: { .init(CSVText.field($0.json), .bold) }) { $0.json },
      ]
      guard showsOrigin else { return columns }
      // The line in the file matters more than the end of a long value. The remark has the path of the file.
      let origin = Table.Column("Origin", priority: 1, isShrinkable: true, minimum: 24, isCutInMiddle: true)
      return columns + [
        Column("origin", origin, cell: { .init(isNarrow ? $0.source.shortText : $0.source.description, .dim) }) {
          .string($0.source.description)
        }
      ]
    }
    let entries = configuration.entries
    let file = showsOrigin ? configuration.file ?? "No file: every setting has its default" : nil
    let remarks = [file, limits].compactMap(\.self)
    self.init(
      entries, columns(isNarrow: false), status: remarks.isEmpty ? nil : StatusLine(remarks)
    ) { records in
      showsOrigin ? ["file": JSONValue(configuration.file), "settings": .array(records)] : configuration.document
    } text: { screen, hasHeader in
      let table = Table(entries, columns(isNarrow: false))
      return (table.fits(on: screen) ? table : Table(entries, columns(isNarrow: true)))
        .text(on: screen, hasHeader: hasHeader, layout: .stacked())
    }
  }
}

extension ConfigurationSource {
  /// The source with only the name of a file, such as "config.json:3:5".
  fileprivate var shortText: String {
    guard case .file(let path, let place) = self else { return description }
    let name = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path[$0...].dropFirst() } ?? path[...]
    return "\(name):\(place)"
  }
}

extension ListView<ErrorView> {
  /// The mistakes in a configuration, in their order.
  init(_ problems: [ErrorView]) {
    let problems = problems.map(GivenOptions.ofProcess.repeated(in:))
    let columns: [Column<ErrorView>] = ["code", "message", "hint"].map { name in
      Column(name) { $0.json[name] ?? .null }
    }
    let status =
      problems.isEmpty
      ? StatusLine(["The configuration is valid"])
      : StatusLine([NumberText.count(problems.count, "problem", "problems")], style: .red)
    self.init(problems, columns, status: status) { records in
      ["valid": .boolean(problems.isEmpty), "problems": .array(records)]
    } text: { _, _ in
      problems.map(\.text).joined()
    }
  }
}

extension ListView<String> {
  /// The `path` of the file, whether it exists and is used, and what names it, such as "--config" or "default".
  init(path: String, exists: Bool, source: String) {
    let columns: [Column<String>] = [
      Column("path", .init("File")) { .string($0) },
      Column("exists", .init("State"), cell: { _ in exists ? .init("used", .green) : .init("not there", .dim) }) { _ in
        .boolean(exists)
      },
      Column("used") { _ in .boolean(exists) },
      Column("source", .init("Named by"), cell: { _ in .init(source, .dim) }) { _ in .string(source) },
    ]
    let status = exists ? nil : StatusLine(["No file: every setting has its default"])
    self.init([path], columns, layout: .stacked(below: .max), status: status) { records in
      ["file": exists ? .string(path) : .null, "searched": .array(records)]
    }
  }
}
