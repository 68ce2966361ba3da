/// The options that every command has.
public struct GlobalOptions: ParsableArguments, Sendable {
  /// The title of the group in each command. Help lists the options on a page of their own.
  static let title = "Global options"

  @Option(
    help: ArgumentHelp("Read the configuration from FILE", valueName: "file"), completion: .file(extensions: ["json"]))
  var config: String?

  @Option(
    help: ArgumentHelp("Use the storage engine NAME, or the engine in the library at the path NAME", valueName: "name"),
    completion: .configuredBackends)
  var backend: String?

  @Option(help: ArgumentHelp("Keep stores in DIRECTORY", valueName: "directory"), completion: .directory)
  var home: String?

  @Option(
    name: .customLong("set"),
    help: ArgumentHelp("Set KEY of the configuration to VALUE", valueName: "key=value"),
    completion: .settings)
  var settings: [String] = []

  @Option(help: ArgumentHelp("Write data in FORMAT", valueName: "format"))
  var output = OutputFormat.table

  @Flag(name: .shortAndLong, help: "Print nothing but data and errors")
  var quiet = false

  @Flag(name: .shortAndLong, help: "Say in detail what happens and why")
  var verbose = false

  @Flag(help: "Never use colors")
  var noColor = false

  /// The options with their defaults.
  public init() {}

  /// The paths of the configuration and the stores, as arguments for another process of this program.
  var arguments: [String] {
    let single = [("--config", config), ("--home", home)].flatMap { name, value in value.map { [name, $0] } ?? [] }
    return single + settings.flatMap { ["--set", $0] }
  }

  var configurationFlags: ConfigurationFlags {
    ConfigurationFlags(file: config, backend: backend, home: home, settings: settings)
  }

  /// Prints a view in the requested format, its remark and its warnings on stderr. A heading sets it apart
  /// from other views on the same output.
  public func show(_ view: some OutputView, under heading: StatusLine? = nil) throws(CacheError) {
    for warning in view.warnings { warn(warning) }
    if let heading { try Console.output.write(heading.line(on: Console.output.screen)) }
    try Console.output.write(OutputRenderer(output, on: Console.output.screen).text(view))
    if output == .table { remark(view.status) }
  }

  /// Prints a remark about the output.
  func remark(_ status: StatusLine?) {
    if !quiet, let status { Diagnostics.standard.write(.status(status)) }
  }

  /// Warns of something that did not stop the command. Does not repeat an earlier warning, not even as a cause.
  func warn(_ warning: ErrorView) {
    if !quiet { Diagnostics.standard.warn(warning) }
  }

  /// With `--verbose`, says what is used.
  func explain(_ topic: String, _ text: @autoclosure () -> String) {
    guard verbose else { return }
    Diagnostics.standard.write(.detail(topic: topic, text: text()))
  }

  /// Says how each value was fetched; `nil` without `--verbose`.
  var observer: (@Sendable (FetchExplanation) -> Void)? {
    guard verbose else { return nil }
    return { explanation in
      for (topic, text) in explanation.remarks { explain(topic, text) }
    }
  }

  /// Prints the texts it gets under `topic`; `nil` without `--verbose`.
  func logger(_ topic: String) -> (@Sendable (String) -> Void)? {
    guard verbose else { return nil }
    return { text in explain(topic, text) }
  }

  /// Whether a line about a wait is wanted and would be seen. Details would come between.
  var showsWaiting: Bool { showsProgress && !verbose }

  /// Whether a progress bar is wanted and would be seen. It is not JSON.
  var showsProgress: Bool {
    Console.error.screen.isTerminal && Console.hasCursor && !quiet && !Diagnostics.standard.isJSON
  }
}

extension CompletionKind {
  /// The keys of the configuration, each with an equals sign for the value to follow; behind one, the values that can
  /// follow.
  static var settings: CompletionKind {
    .custom { request in
      let settings = ConfigurationLoader.ofProcess.declared.settings.filter(\.kind.isSingle)
      let key = request.beginning.prefix { $0 != "=" }
      guard key.count < request.beginning.count else { return settings.map { "\($0.path)=" } }
      return settings.first { $0.path == key }.map { $0.values.map { "\(key)=\($0)" } } ?? []
    }
  }
}

extension Setting {
  /// The values, if they can be listed.
  fileprivate var values: [String] {
    switch kind {
    case .backend: CompletionKind.backendNames + (path == Setting.engine ? [TieredSettings.name] : [])
    case .option(.choice(let names)): names
    case .option(.boolean): ["true", "false"]
    default: []
    }
  }
}

extension OutputFormat: ExpressibleByArgument {}
