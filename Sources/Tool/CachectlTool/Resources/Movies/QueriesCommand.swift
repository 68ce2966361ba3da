internal import CommandLineKit
internal import CacheDomain
internal import CachePresentation

/// `queries`.
struct QueriesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "queries", abstract: "Show the movie queries searched last, newest first")

  @Option(help: "Show at most N queries")
  var limit: Int?

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func validate() throws(ValidationError) {
    if let limit, limit < 0 { throw ValidationError("--limit is 0 or more") }
  }

  func run() async throws {
    let session = try Session(global)
    let queries = try await session.withStore { store throws(CacheError) in
      let useCase = session.container.context(store).makeFetchRecentMovieQueriesUseCase()
      return try await useCase.execute(limit: limit ?? .max)
    }
    try global.show(QueriesView(queries, now: session.container.now, limit: limit))
  }
}
