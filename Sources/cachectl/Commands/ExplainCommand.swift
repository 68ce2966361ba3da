internal import ArgumentParser
internal import CacheComposition
internal import CacheDomain
internal import CachePresentation

/// `explain`: how a fetch would be answered.
struct ExplainCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain", abstract: "Say why a fetch would be answered as it would, without doing it",
    discussion: """
      It takes the options of the fetch that it explains, looks into the cache, and asks no origin.

      Examples:
        cachectl explain cities --order revenue
        cachectl explain movies --query "star wars" --max-age 5m
        cachectl explain url https://example.com/ --header 'Cache-Control: max-age=60'
      """,
    subcommands: [
      ExplainCitiesCommand.self, ExplainMoviesCommand.self, ExplainPosterCommand.self, ExplainURLCommand.self,
    ])
}

/// `explain cities`.
struct ExplainCitiesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cities", abstract: "Explain how a page of cities would be fetched")

  @OptionGroup
  var cities: CitiesOptions

  @OptionGroup(title: "Fetch options")
  var fetch: FetchFlags

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func run() async throws {
    try await Session(global).explaining { session, store throws(CacheError) in
      try session.container.makeCitiesDIContainer(store).makeFetchCitiesUseCase()
        .execute(cities.query, options: fetch.options)
    }
  }
}

/// `explain movies`.
struct ExplainMoviesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "movies", abstract: "Explain how a search for movies would be answered")

  @OptionGroup
  var movies: MoviesOptions

  @OptionGroup(title: "Fetch options")
  var fetch: FetchFlags

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func run() async throws {
    let query = try movies.movieQuery
    try await Session(global).explaining { session, store throws(CacheError) in
      try session.container.makeMoviesDIContainer(store).makeSearchMoviesUseCase()
        .execute(query, page: movies.page, options: fetch.options)
    }
  }
}

/// `explain poster`.
struct ExplainPosterCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "poster", abstract: "Explain how the image of a poster would be fetched")

  @OptionGroup
  var poster: PosterOptions

  @OptionGroup(title: "Fetch options")
  var fetch: FetchFlags

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func run() async throws {
    try await Session(global).explaining { session, store throws(CacheError) in
      try session.container.makeMoviesDIContainer(store).makeFetchPosterUseCase()
        .execute(poster.query, options: fetch.options)
    }
  }
}

/// `explain url`.
struct ExplainURLCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "url", abstract: "Explain how a request for a URL would be answered")

  @OptionGroup
  var url: URLOptions

  @OptionGroup(title: "Fetch options")
  var fetch: FetchFlags

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func run() async throws {
    let query = try url.query
    try await Session(global).explaining { session, store throws(CacheError) in
      session.container.makeURLsDIContainer(store).makeFetchURLUseCase().execute(query, options: fetch.options)
    }
  }
}
