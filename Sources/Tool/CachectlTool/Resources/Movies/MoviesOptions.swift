internal import ArgumentParser
internal import CacheComposition
internal import CacheDomain

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
    try MoviesDIContainer(context).makeSearchMoviesUseCase()
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
