internal import ArgumentParser
internal import CacheDomain

/// The options that say which page of movies is meant.
struct MoviesOptions: ParsableArguments {
  @Option(help: "The words to search")
  var query: String

  @Option(help: "Which page, from 1")
  var page = 1

  func validate() throws(ValidationError) {
    _ = try movieQuery
    if page < 1 { throw ValidationError("--page begins at 1") }
  }

  /// - Throws: `ValidationError` where there is no word in the query.
  var movieQuery: MovieQuery {
    get throws(ValidationError) {
      guard let query = MovieQuery(query) else { throw ValidationError("--query needs at least one word") }
      return query
    }
  }
}
