/// A resource that the program knows: `fetch NAME`, `explain NAME`, and its keys in the configuration.
public struct ToolResource: Sendable {
  /// What `fetch` fetches, for its help, such as "a poster".
  let noun: String
  /// The commands. They are made when they are needed: generic ones are types that the runtime must create.
  let fetch: @Sendable () -> any ParsableCommand.Type
  let explain: @Sendable () -> any ParsableCommand.Type
  let sections: [any ConfigurationSection.Type]
  /// The keys by which it is found: the name of the resource, and the type that the author of the program knows.
  let options: any ExplainableOptions.Type

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

  /// The name of the resource on the command line, in kebab case.
  static var resourceName: String { get }

  /// Fetches the resource through the cache as `options` say, from what `context` has.
  ///
  /// - Throws: `CacheError` if the request makes no sense, or the configuration of the resource is incomplete.
  func snapshots(_ context: ResourceContext, _ options: FetchOptions) throws(CacheError) -> Snapshots<Value>
}

/// The options that select what to fetch, and the view that shows it: all that `fetch NAME` and `explain NAME` need.
public protocol FetchableOptions: ExplainableOptions {
  /// What `fetch NAME` does, in one line without a final full stop.
  static var abstract: String { get }
  /// Further help, such as examples; empty by default.
  static var discussion: String { get }

  /// The view of `snapshot`, which came from the origin or from the store of the engine called `backend`.
  func view(of snapshot: Snapshot<Value>, backend: String) -> SnapshotView
}

extension FetchableOptions {
  /// No further help.
  public static var discussion: String { "" }
}

/// Fetches a resource from the cache, the origin, or both.
struct FetchCommand: ParsableCommand {
  static let configuration: CommandConfiguration = {
    let resources = Cachectl.current.resources
    // By hand: joined(separator:) makes the runtime search the whole program for a conformance, at each start.
    var list = ""
    for (index, resource) in resources.enumerated() {
      list += index == 0 ? resource.noun : (index == resources.count - 1 ? " or " : ", ") + resource.noun
    }
    return CommandConfiguration(
      commandName: "fetch", abstract: "Fetch \(list) through the cache", subcommands: resources.map { $0.fetch() },
      defaultSubcommand: resources.first { $0.noun == ToolResource.url.noun }?.fetch())
  }()
}

/// `fetch NAME` for a resource that is only shown.
struct FetchResourceCommand<Resource: FetchableOptions>: AsyncParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: Resource.resourceName, abstract: Resource.abstract, discussion: Resource.discussion)
  }

  @OptionGroup
  var resource: Resource

  @OptionGroup(title: "Fetch options")
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
      commandName: "explain", abstract: "Say how a fetch would be answered, and why, without doing it",
      discussion: """
        It takes the options that select what to fetch and how, looks into the cache, and sends no request. For a \
        URL, the word url may be left out.

        Examples:
          cachectl explain cities --order revenue
          cachectl explain movies --query "star wars" --max-age 5m
          cachectl explain https://example.com/ --refresh
        """,
      subcommands: resources.map { $0.explain() },
      defaultSubcommand: hasURL ? ExplainResourceCommand<URLOptions>.self : nil)
  }()
}

/// `explain cities` and the like.
struct ExplainResourceCommand<Resource: ExplainableOptions>: AsyncParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: Resource.resourceName, abstract: "Explain what `fetch \(Resource.resourceName)` would do")
  }

  @OptionGroup
  var resource: Resource

  @OptionGroup(title: "Fetch options")
  var fetch: FetchFlags

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func run() async throws {
    let session = try Session(global)
    try await session.fetching(fetch) { store, _ throws(CacheError) in
      let snapshots = try resource.snapshots(session.container.context(store), fetch.options)
      var explanation = try await snapshots.explanation()
      if let tier = await store.tier(of: explanation.key) { explanation.note("tier", tier) }
      try global.show(RecordView(explanation))
    }
  }
}
