struct BackendsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backends", abstract: "Show the storage engines, or test one",
    discussion: """
      Engines are built in, or in shared libraries called libcachectl-NAME.so. A library is found by NAME in the directories \
      of the setting plugins.searchPath (CACHECTL_PLUGIN_PATH, separated by colons), or by its path, and is loaded only \
      when it is named. Other users must not be able to change it.
      """,
    examples: [
      "cachectl backends", "cachectl backends show ./libcachectl-folder.so", "cachectl backends test folder",
    ],
    subcommands: [ListBackends.self, ShowBackend.self, TestBackend.self], defaultSubcommand: ListBackends.self)
}

struct ListBackends: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the storage engines",
    discussion: """
      Libraries in the search path are listed without being loaded, except the configured one: until then, their versions and \
      capabilities are unknown.
      """,
    examples: ["cachectl backends list --output json"])

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func run() throws {
    let container = try AppDIContainer.ofProcess(global.configurationFlags)
    let found = container.foundLibraries
    let rows = container.catalogue.declarations.map { Backend($0, in: container.catalogue) }
    let unusable = found.unusable.map { library in
      ErrorView(
        code: "invalidPlugin", message: "\(library.path) is not used: the engine \(library.name) is built in",
        hint: "remove it, or give its engine another name")
    }
    let others = found.usable.map { Backend($0, isAmbiguous: found.ambiguous.contains($0.name)) }
    try global.show(ListView(rows + others, selected: container.configuration.backend, warnings: unusable))
    if global.output == .table { global.remark(StatusLine(["\(TieredSettings.name): \(TieredSettings.summary)"])) }
  }
}

struct ShowBackend: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show the capabilities and the options of a storage engine",
    examples: ["cachectl backends show sqlite", "cachectl backends show ./libcachectl-folder.so --output json"])

  @Argument(help: "The name of the engine, or the path of its library", completion: .backends)
  var name: String

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func run() throws {
    let container = try AppDIContainer.ofProcess(global.configurationFlags(of: "backends show", backend: name))
    let declaration = try container.catalogue.plugin(named: container.configuration.backend).declaration
    try global.show(RecordView(Backend(declaration, in: container.catalogue), options: declaration.options))
  }
}

extension GlobalOptions {
  /// The flags for `command`, which is about the engine that its argument names, whatever the configuration says.
  func configurationFlags(of command: String, backend name: String) -> ConfigurationFlags {
    var flags = configurationFlags
    flags.backend = name
    flags.backendFlag = command
    return flags
  }
}

extension AppDIContainer {
  /// The libraries of the search path that are not loaded.
  fileprivate var foundLibraries: FoundLibraries {
    FoundLibraries(EngineLibraries(), searchPath: configuration.pluginSearchPath, catalogue: catalogue)
  }

  /// The names of all engines, including libraries that are not loaded.
  fileprivate var backendNames: [String] {
    var names = catalogue.names
    for library in foundLibraries.usable where !names.contains(library.name) { names.append(library.name) }
    return names
  }
}

extension CompletionKind {
  /// The names of the engines, including those of libraries.
  static var backends: CompletionKind { .list(backendNames) }

  /// The same names, with commas between.
  static var backendLists: CompletionKind { .commaSeparated(backendNames) }

  /// The same names, and that of the engine that is made of two others.
  static var configuredBackends: CompletionKind { .list(backendNames + [TieredSettings.name]) }

  static var backendNames: [String] {
    (try? AppDIContainer.ofProcess().backendNames) ?? Cachectl.current.catalogue.names
  }
}

/// Facts about an engine, or about a library that is not loaded.
struct Backend {
  let name: String
  /// The version of the engine, or of the library under it; `nil` if it is not loaded.
  var version: String?
  let summary: String
  /// The path of its library; `nil` if it is built in.
  let path: String?
  /// Its capabilities, in the order of display.
  var capabilities: [String] = []
}

extension Backend {
  /// The engine that declares `declaration`.
  fileprivate init(_ declaration: EngineDeclaration, in catalogue: PluginCatalogue) {
    self.init(
      name: declaration.name, version: declaration.version, summary: declaration.summary,
      path: catalogue.path(ofLibrary: declaration.name),
      capabilities: declaration.capabilities.map(\.rawValue).sorted())
  }

  /// The engine of a library that is not loaded; `isAmbiguous` if another library has the same name.
  fileprivate init(_ library: EngineLibrary, isAmbiguous: Bool) {
    let advice =
      isAmbiguous
      ? "another folder has one too: name it by its path"
      : GivenOptions.ofProcess.repeated(in: "see: cachectl backends show \(library.name)")
    self.init(name: library.name, summary: "not loaded; \(advice)", path: library.path)
  }
}

extension ListView<Backend> {
  /// The engines; the one called `selected` is in use, and has an asterisk before it.
  init(_ backends: [Backend], selected: String?, warnings: [ErrorView] = []) {
    // A library that is not loaded is not in use, whatever its name.
    let isSelected = { @Sendable (backend: Backend) in backend.name == selected && backend.version != nil }
    let columns: [Column<Backend>] = [
      Column(table: .init("")) { .init(isSelected($0) ? "*" : "", .green) },
      Column("name", .init("Name", priority: 1), cell: { .init($0.name, isSelected($0) ? .bold : .plain) }) {
        .string($0.name)
      },
      Column("version", .init("Version")) { JSONValue($0.version) },
      Column("summary", .init("Summary", isShrinkable: true, minimum: 24)) { .string($0.summary) },
      Column("builtIn") { .boolean($0.path == nil) },
      Column(
        "path", .init("Library", priority: -1, isShrinkable: true, isCutInMiddle: true),
        cell: { .init($0.path ?? "built in", .dim) }
      ) { JSONValue($0.path) },
      Column("capabilities", .init("Capabilities", priority: -2, isShrinkable: true, minimum: 20)) {
        JSONValue($0.capabilities)
      },
    ]
    self.init(backends, columns, layout: .stacked(leading: 3), warnings: warnings)
  }
}

extension RecordView {
  /// The engine with its `options`, in their order.
  init(_ backend: Backend, options: [EngineOption]) {
    let table = Table(options, EngineOption.columns)
    self.init(
      [
        Field("name", .string(backend.name), "Name", .init(backend.name, .bold)),
        Field("version", JSONValue(backend.version), "Version"),
        Field("summary", .string(backend.summary), "Summary"), Field("builtIn", .boolean(backend.path == nil)),
        Field("path", JSONValue(backend.path), "Library", .init(backend.path ?? "built in")),
        Field("capabilities", JSONValue(backend.capabilities), "Capabilities"),
        Field("options", ListView(options, EngineOption.columns).json),
      ], layout: .wrapped
    ) { screen in
      if options.isEmpty { return "" }
      return "\n" + (table.stackedText(on: screen, below: 80) ?? table.wrappingLastColumn(on: screen).text(on: screen))
    }
  }
}

extension EngineOption {
  fileprivate static let columns: [Column<EngineOption>] = [
    Column("name", .init("Option"), cell: { .init($0.name, .bold) }) { .string($0.name) },
    Column("type", .init("Type", priority: -2, isShrinkable: true)) { .string($0.kind.typeName) },
    Column(
      "default", .init("Default", priority: -1, isShrinkable: true),
      cell: {
        $0.isRequired
          ? .init("required", .yellow) : .init($0.defaultValue == nil ? nil : CSVText.field($0.defaultDocument))
      }
    ) { $0.defaultDocument },
    Column("help", .init("Meaning"), cell: { .init($0.isSecret ? "\($0.help) (secret)" : $0.help) }) {
      .string($0.help)
    },
    Column("required") { .boolean($0.isRequired) }, Column("secret") { .boolean($0.isSecret) },
  ]

  /// The default as the configuration writes it; `null` for none.
  private var defaultDocument: JSONValue {
    defaultValue.map { SettingKind.option(kind).json(.option($0)) } ?? .null
  }
}

extension EngineOption.Kind {
  fileprivate var typeName: String {
    switch self {
    case .text: "text"
    case .path: "path"
    case .integer: "integer"
    case .size: "size"
    case .duration: "duration"
    case .boolean: "boolean"
    case .choice(let names): names.joined(separator: "|")
    case .storeName: "name"
    }
  }
}
