internal import CommandLineKit
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
      let useCase = try session.container.context(store).makeSearchMoviesUseCase()
      let snapshots = useCase.execute(query, page: movies.page, options: fetch.options)
      try await SnapshotsDisplay(global: global).show(snapshots) { snapshot in
        writes.note(snapshot)
        return MoviesView(snapshot, backend: session.configuration.backend, limit: limit)
      }
    }
  }
}

/// The options that select a page of movies.
struct MoviesOptions: ParsableArguments {
  @Option(help: "The words to search")
  var query: String

  @Option(help: "Which page, from 1")
  var page = 1

  func validate() throws(ValidationError) {
    if MovieQuery(query) == nil { throw ValidationError("--query needs at least one word") }
    if page < 1 { throw ValidationError("--page begins at 1") }
  }

  /// - Throws: `CacheError` with the code `invalidRequest` if the query has no word.
  var movieQuery: MovieQuery {
    get throws(CacheError) {
      guard let query = MovieQuery(query) else {
        throw CacheError(.invalidRequest, "--query needs at least one word", hint: "see 'cachectl help fetch movies'")
      }
      return query
    }
  }
}

extension MoviesOptions: ExplainableOptions {
  static var resourceName: String { "movies" }

  func snapshots(
    _ context: ResourceContext, _ options: FetchOptions
  ) throws(CacheError) -> Snapshots<MoviesPage> {
    try context.makeSearchMoviesUseCase()
      .execute(movieQuery, page: page, options: options)
  }
}

extension ToolResource {
  /// Movies by the words of their titles.
  public static var movies: ToolResource {
    ToolResource(
      noun: "movies", FetchMoviesCommand.self, explain: MoviesOptions.self,
      [MoviesSettings.self, MovieQueriesSettings.self])
  }
}
