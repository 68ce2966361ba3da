internal import CommandLineKit
internal import FetchVocabulary

/// Fetches a resource from the cache, the origin, or both.
struct FetchCommand: ParsableCommand {
  static let configuration: CommandConfiguration = {
    let resources = Cachectl.current.resources
    let nouns = resources.map(\.noun)
    // By hand: joined(separator:) makes the runtime search the whole program for a conformance, at each start.
    var list = ""
    for (index, noun) in nouns.enumerated() {
      list += index == 0 ? noun : (index == nouns.count - 1 ? " or " : ", ") + noun
    }
    return CommandConfiguration(
      commandName: "fetch", abstract: "Fetch \(list) through the cache", subcommands: resources.map { $0.fetch() })
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
      try await SnapshotsDisplay(global: global).show(snapshots) { snapshot in
        writes.note(snapshot)
        return resource.view(of: snapshot, backend: session.configuration.backend)
      }
    }
  }
}
