/// A resource that the program knows: `fetch NAME`, `explain NAME`, and its keys in the configuration.
public struct ToolResource: Sendable {
  /// The noun for a value of the resource in the help, such as "a poster".
  let noun: String
  /// The commands. They are made when they are needed: generic ones are types that the runtime must create.
  let fetch: @Sendable () -> any ParsableCommand.Type
  let explain: @Sendable () -> any ParsableCommand.Type
  let sections: [any ConfigurationSection.Type]
  /// The keys by which it is found: the name of the resource, and the type that the author of the program knows.
  let options: any ExplainableOptions.Type
  /// The mistake in its declaration, with which every command fails.
  var defect: ConfigurationError?

  /// The resource that `options` selects, with the keys of `sections`.
  public init<Options: FetchableOptions>(_ options: Options.Type, sections: [any ConfigurationSection.Type] = []) {
    self.init(noun: Options.resourceName, FetchResourceCommand<Options>.self, explain: options, sections)
  }

  /// A resource whose `fetch NAME` does more than show the value.
  init<Options: ExplainableOptions>(
    noun: String, _ fetch: @autoclosure @escaping @Sendable () -> any ParsableCommand.Type,
    explain options: Options.Type,
    _ sections: [any ConfigurationSection.Type] = []
  ) {
    self.noun = noun
    self.fetch = fetch
    self.sections = sections
    self.options = options
    explain = { ExplainResourceCommand<Options>.self }
  }
}

/// The options that select what to fetch, for `explain NAME`.
public protocol ExplainableOptions: ParsableArguments {
  associatedtype Value: Sendable
  /// The options of `fetch NAME` that say what happens to the value; none by default. `explain NAME` accepts them without
  /// effect, so that you can edit a command line from one to the other.
  associatedtype Display: ParsableArguments = NoDisplayOptions

  /// The name of the resource on the command line, in kebab case.
  static var resourceName: String { get }
  /// Command lines for a shell, which explain a fetch; none by default.
  static var explainExamples: [String] { get }

  /// Fetches the resource through the cache as `options` say, from what `context` has.
  ///
  /// - Throws: `CacheError` if the request makes no sense, or the configuration of the resource is incomplete.
  func snapshots(_ context: ResourceContext, _ options: FetchOptions) throws(CacheError) -> Snapshots<Value>
}

/// No options.
public struct NoDisplayOptions: ParsableArguments {
  /// The options, of which there are none.
  public init() {}
}

extension ExplainableOptions {
  /// No examples.
  public static var explainExamples: [String] { [] }
}

/// The options that select what to fetch, and the view that shows it: all that `fetch NAME` and `explain NAME` need.
public protocol FetchableOptions: ExplainableOptions {
  /// The description of `fetch NAME`, in one line without a final full stop.
  static var abstract: String { get }
  /// Further help; empty by default.
  static var discussion: String { get }
  /// Command lines for a shell; none by default.
  static var examples: [String] { get }

  /// The view of `snapshot`, which came from the origin or from the store of the engine called `backend`.
  func view(of snapshot: Snapshot<Value>, backend: String) -> SnapshotView
}

extension FetchableOptions {
  /// No further help.
  public static var discussion: String { "" }
  /// No examples.
  public static var examples: [String] { [] }
}

/// `fetch`: a URL, or a resource by its name.
struct FetchCommand: ParsableCommand {
  static let usageOfURL = "cachectl fetch URL [options]\ncachectl fetch url URL [options]"
  static let examplesOfURL = [
    "cachectl fetch https://example.com/data.json | jq",
    "cachectl fetch -fsSL -o image.png https://example.com/image.png",
    "cachectl fetch -i -H 'Accept: text/*' https://example.com/",
    "cachectl fetch --json @item.json https://example.com/items",
    "cachectl fetch --compressed --retry 3 https://example.com/large.json",
  ]

  static let configuration: CommandConfiguration = {
    let resources = Cachectl.current.resources
    // By hand: joined(separator:) makes the runtime search the whole program for a conformance, at each start.
    var list = ""
    for (index, resource) in resources.enumerated() {
      list += index == 0 ? resource.noun : (index == resources.count - 1 ? " or " : ", ") + resource.noun
    }
    let url = resources.first { $0.noun == ToolResource.url.noun }
    return CommandConfiguration(
      commandName: "fetch", abstract: "Fetch \(list) through the cache",
      usage: url == nil ? nil : "cachectl fetch URL [options]\ncachectl fetch COMMAND [options]",
      discussion: """
        A response that is stored and fresh is served at once; otherwise cachectl requests it from the origin, and stores it \
        if HTTP allows it. If the origin fails, a stale copy is served with a warning. For a URL, options are spelled as in \
        curl.
        """, examples: url == nil ? [] : examplesOfURL, subcommands: resources.map { $0.fetch() },
      defaultSubcommand: url?.fetch()
    ).hinting(CurlHints.hint)
  }()
}

/// `fetch NAME` for a resource that is only shown.
struct FetchResourceCommand<Resource: FetchableOptions>: AsyncParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: Resource.resourceName, abstract: Resource.abstract, discussion: Resource.discussion,
      examples: Resource.examples)
  }

  @OptionGroup
  var resource: Resource

  @OptionGroup(title: "Cache")
  var fetch: FetchFlags

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func run() async throws {
    let session = try Session(global)
    try await session.fetching(fetch) { store, writes throws(CacheError) in
      let snapshots = try resource.snapshots(session.container.context(store), fetch.options)
      try await global.show(snapshots) { snapshot in
        writes.note(snapshot)
        return resource.view(of: snapshot, backend: session.configuration.backend)
      }
    }
  }
}

/// `explain`: how a fetch would be served.
struct ExplainCommand: ParsableCommand {
  static let configuration: CommandConfiguration = {
    let resources = Cachectl.current.resources
    let hasURL = resources.contains { $0.noun == ToolResource.url.noun }
    return CommandConfiguration(
      commandName: "explain", abstract: "Explain how a fetch would be served, without sending a request",
      usage: hasURL ? "cachectl explain URL [options]\ncachectl explain COMMAND [options]" : nil,
      discussion: """
        It takes the options of `fetch` that select what to fetch and how, looks into the cache, and prints each step to its \
        decision with the reason.
        """,
      examples: hasURL
        ? [
          "cachectl explain https://example.com/ --refresh", "cachectl explain cities --order revenue",
          "cachectl explain movies --query \"star wars\" --max-age 5m",
        ] : [],
      subcommands: resources.map { $0.explain() },
      defaultSubcommand: hasURL ? ExplainResourceCommand<URLOptions>.self : nil)
  }()
}

/// `explain cities` and the like.
struct ExplainResourceCommand<Resource: ExplainableOptions>: AsyncParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: Resource.resourceName, abstract: "Explain what `fetch \(Resource.resourceName)` would do",
      discussion:
        "No request is sent. It takes the options of `fetch \(Resource.resourceName)`; those for output have no effect.",
      examples: Resource.explainExamples)
  }

  @OptionGroup
  var resource: Resource

  @OptionGroup(title: "Cache")
  var fetch: FetchFlags

  @OptionGroup(title: "Without effect")
  var display: Resource.Display

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func run() async throws {
    let session = try Session(global)
    try await session.fetching(fetch, creating: false) { store, _ throws(CacheError) in
      let snapshots = try resource.snapshots(session.container.context(store), fetch.options)
      var explanation = try await snapshots.explanation()
      if let tier = await store.tier(of: explanation.key) { explanation.note("tier", tier) }
      let url = (try? CacheKey(explanation.key)).flatMap(StoredURL.init)
      try global.show(RecordView(explanation, url: url.flatMap { $0.isWhole ? $0.text : nil }))
    }
  }
}
