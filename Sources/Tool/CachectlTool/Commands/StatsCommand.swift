internal import CachectlArguments
internal import CacheComposition
internal import FetchVocabulary
internal import CachePresentation

/// `stats`.
struct StatsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stats", abstract: "Show how much the store holds and how well it serves")

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func run() async throws {
    let session = try Session(global)
    let view = try await session.withStore { store throws(CacheError) in
      try await session.container.makeStorePresenter(store).statistics()
    }
    try global.show(view)
  }
}
