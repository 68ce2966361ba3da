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

  @Option(help: "The words to search")
  var query: String

  @Option(help: "Which page, from 1")
  var page = 1

  @Option(help: "Show at most N movies")
  var limit: Int?

  @OptionGroup(title: "Fetch options")
  var fetch: FetchFlags

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func validate() throws(ValidationError) {
    if MovieQuery(query) == nil { throw ValidationError("--query needs at least one word") }
    if page < 1 { throw ValidationError("--page begins at 1") }
    if let limit, limit < 0 { throw ValidationError("--limit is 0 or more") }
  }

  func run() async throws {
    guard let query = MovieQuery(query) else { throw ValidationError("--query needs at least one word") }
    let session = try Session(global)
    var writes = WriteFailures()
    try await session.fetching { store throws(CacheError) in
      let useCase = try session.container.makeMoviesDIContainer(store).makeSearchMoviesUseCase()
      for try await snapshot in useCase.execute(query, page: page, options: fetch.options) {
        writes.note(snapshot.warnings)
        try global.show(MoviesView(snapshot, backend: session.configuration.backend, limit: limit))
      }
    }
    try writes.check()
  }
}
