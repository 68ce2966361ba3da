public import ArgumentParser
internal import CacheComposition
internal import CacheDomain
public import CachePresentation

/// The options that every command has.
struct GlobalOptions: ParsableArguments {
  @Option(help: "Read the configuration from FILE", completion: .file(extensions: ["json"]))
  var config: String?

  @Option(
    help: "Use the storage engine NAME, or the one in the library at a path",
    completion: .backends)
  var backend: String?

  @Option(help: "The folder in which stores live", completion: .directory)
  var home: String?

  @Option(
    name: .customLong("set"),
    help: ArgumentHelp("Give KEY of the configuration another value; repeatable", valueName: "key=value"),
    completion: .settings)
  var settings: [String] = []

  @Option(help: "How data is written")
  var output = OutputFormat.table

  @Flag(name: .shortAndLong, help: "Print nothing but data and errors")
  var quiet = false

  @Flag(name: .shortAndLong, help: "Say what is used and why")
  var verbose = false

  @Flag(help: "Never use colours")
  var noColor = false

  var configurationFlags: ConfigurationFlags {
    ConfigurationFlags(file: config, backend: backend, home: home, settings: settings)
  }

  /// Prints a view in the format that was asked for, its remark and its warnings on the standard error. A heading tells
  /// it from other views on the same output.
  func show(_ view: some OutputView, under heading: StatusLine? = nil) throws(CacheError) {
    for warning in view.warnings { warn(warning) }
    if let heading { try Console.output.write(heading.line(on: Console.output.screen)) }
    try Console.output.write(OutputRenderer(output, on: Console.output.screen).text(view))
    if output == .table { remark(view.status) }
  }

  /// Prints a remark about what was printed.
  func remark(_ status: StatusLine?) {
    if !quiet, let status { Diagnostics.standard.write(.status(status)) }
  }

  /// Warns of something that did not keep the command from its work; once, whatever else meets the same.
  func warn(_ warning: ErrorView) {
    if !quiet, Diagnostics.isNew(warning) { Diagnostics.standard.write(.warning(warning)) }
  }

  /// Says what is used, with `--verbose`.
  func explain(_ topic: String, _ text: @autoclosure () -> String) {
    guard verbose else { return }
    Diagnostics.standard.write(.detail(topic: topic, text: text()))
  }

  /// Says how each fetched value came about; `nil` without `--verbose`.
  var observer: (@Sendable (FetchExplanation) -> Void)? {
    guard verbose else { return nil }
    return { explanation in
      for (topic, text) in ExplanationView(explanation).remarks { explain(topic, text) }
    }
  }

  /// Prints what it is given under `topic`; `nil` without `--verbose`.
  func logger(_ topic: String) -> (@Sendable (String) -> Void)? {
    guard verbose else { return nil }
    return { text in explain(topic, text) }
  }

  /// Whether a progress bar would be seen and is wanted. It is no JSON.
  var showsProgress: Bool {
    Console.error.screen.isTerminal && Console.hasCursor && !quiet && !Diagnostics.standard.isJSON
  }
}

extension CompletionKind {
  /// The keys of the configuration, each with the equals sign that its value follows.
  static var settings: CompletionKind {
    .list(ConfigurationSchema.keys(engines: PluginCatalogue.builtIn.declarations).map { "\($0)=" })
  }

  /// The names of the engines, those of libraries that are there when the script is made among them.
  static var backends: CompletionKind {
    .list((try? AppDIContainer.ofProcess().makeBackendsPresenter().names) ?? BackendsPresenter.builtInNames)
  }
}

extension OutputFormat: ExpressibleByArgument {}
