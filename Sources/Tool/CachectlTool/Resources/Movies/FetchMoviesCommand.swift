internal import ArgumentParser
internal import CacheComposition
internal import CacheDomain
internal import CachePresentation

/// `fetch movies`.
struct FetchMoviesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "movies", abstract: "Search movies by the words of their titles",
    discussion: """
      A query that was answered is remembered: see `cachectl queries`.

      Examples:
        cachectl fetch movies --query "star wars"
        cachectl fetch movies --query amelie --output json
      """)

  @OptionGroup
  var movies: MoviesOptions

  @Option(help: "Show at most N movies")
  var limit: Int?

  @OptionGroup(title: "Fetch options")
  var fetch: FetchFlags

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func validate() throws(ValidationError) {
    if let limit, limit < 0 { throw ValidationError("--limit is 0 or more") }
  }

  func run() async throws {
    let (session, query) = (try Session(global), try movies.movieQuery)
    try await session.fetching(fetch) { store, writes throws(CacheError) in
      let useCase = try session.container.makeMoviesDIContainer(store).makeSearchMoviesUseCase()
      let snapshots = useCase.execute(query, page: movies.page, options: fetch.options)
      try await SnapshotsDisplay(global: global).show(snapshots) { snapshot in
        writes.note(snapshot)
        return MoviesView(snapshot, backend: session.configuration.backend, limit: limit)
      }
    }
  }
}
