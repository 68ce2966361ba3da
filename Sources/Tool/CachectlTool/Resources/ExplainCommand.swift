internal import CommandLineKit
internal import FetchVocabulary
internal import CachePresentation

/// `explain`: how a fetch would be answered.
struct ExplainCommand: ParsableCommand {
  static let configuration: CommandConfiguration = {
    let resources = Cachectl.current.resources
    let hasURL = resources.contains { $0.noun == ToolResource.url.noun }
    return CommandConfiguration(
      commandName: "explain", abstract: "Say how a fetch would be answered, and why, without doing it",
      discussion: """
        It takes the options of the fetch that it explains, looks into the cache, and asks no origin. For a URL, \
        the word url may be left out.

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
      try global.show(ExplanationView(explanation))
    }
  }
}
