internal import CacheDomain

/// The options that select a page of movies.
struct MoviesOptions: FetchableOptions {
  static var resourceName: String { "movies" }
  static var abstract: String { "Search movies by the words of their titles" }
  static var discussion: String {
    """
    A query that was answered is remembered: see `cachectl queries`.

    Examples:
      cachectl fetch movies --query "star wars"
      cachectl fetch movies --query amelie --output json
    """
  }

  @Option(help: "The words to search")
  var query: String

  @Option(help: "Which page, from 1")
  var page = 1

  @Option(help: "Show at most N movies")
  var limit: Int?

  func validate() throws(ValidationError) {
    if MovieQuery(query) == nil { throw ValidationError("--query needs at least one word") }
    if page < 1 { throw ValidationError("--page begins at 1") }
    if let limit, limit < 0 { throw ValidationError("--limit is 0 or more") }
  }

  func snapshots(
    _ context: ResourceContext, _ options: FetchOptions
  ) throws(CacheError) -> Snapshots<MoviesPage> {
    guard let query = MovieQuery(query) else {
      throw CacheError(.invalidRequest, "--query needs at least one word", hint: "see 'cachectl help fetch movies'")
    }
    return try context.makeSearchMoviesUseCase().execute(query, page: page, options: options)
  }

  func view(of snapshot: Snapshot<MoviesPage>, backend: String) -> SnapshotView {
    SnapshotView(snapshot, backend: backend, limit: limit)
  }
}

extension ToolResource {
  /// Movies by the words of their titles.
  public static var movies: ToolResource {
    ToolResource(MoviesOptions.self, sections: [MoviesSettings.self, MovieQueriesSettings.self])
  }
}

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
    try global.show(ListView(queries, now: session.container.now, limit: limit))
  }
}

/// `fetch poster`.
struct FetchPosterCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "poster", abstract: "Fetch the image of a movie's poster",
    discussion: """
      PATH is the poster path of a movie. Without --out the image goes to the standard output, unless that is \
      a terminal; with --output json, ndjson or csv facts about the image are printed instead.

      Examples:
        cachectl fetch poster /2201.png --width 342 --out kick-ass.png
        cachectl fetch poster /2201.png | display
      """)

  @OptionGroup
  var poster: PosterOptions

  @Option(help: "Write the image to FILE", completion: .file())
  var out: String?

  @OptionGroup(title: "Fetch options")
  var fetch: FetchFlags

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func validate() throws(ValidationError) {
    if file == nil, global.output == .table, Console.output.screen.isTerminal {
      throw ValidationError("an image cannot be shown on a terminal: name a file with --out")
    }
  }

  func run() async throws {
    let session = try Session(global)
    try await session.fetching(fetch) { store, writes throws(CacheError) in
      var last: Snapshot<Poster>?
      for try await snapshot in try poster.snapshots(session.container.context(store), fetch.options) {
        writes.note(snapshot)
        last = snapshot
      }
      if let last { try deliver(last, session) }
    }
  }

  /// The path of the file; `nil` for stdout.
  private var file: String? { out?.meansOutput == true ? nil : out }

  private func deliver(_ snapshot: Snapshot<Poster>, _ session: Session) throws(CacheError) {
    let view = SnapshotView(snapshot, query: poster.query, backend: session.configuration.backend, file: file)
    if let file {
      try AtomicFile.write(snapshot.value.bytes, to: file)
    } else if global.output == .table {
      for warning in view.warnings { global.warn(warning) }
      return try Console.output.write(snapshot.value.bytes)
    }
    try global.show(view)
  }
}

/// The options that select a poster.
struct PosterOptions: ExplainableOptions {
  static var resourceName: String { "poster" }

  @Argument(help: "The path of the poster, such as /2201.png")
  var path: String

  @Option(help: "The width in pixels; the nearest of 92, 154, 185, 342, 500 and 780 is fetched")
  var width = 342

  func validate() throws(ValidationError) {
    if path.isEmpty { throw ValidationError("PATH must not be empty") }
    if width < 1 { throw ValidationError("--width is 1 or more") }
  }

  fileprivate var query: PosterQuery { PosterQuery(path: path, width: width) }

  func snapshots(
    _ context: ResourceContext, _ options: FetchOptions
  ) throws(CacheError) -> Snapshots<Poster> {
    try context.makePosterImagesRepository().poster(query, options: options)
  }
}

extension ToolResource {
  /// The posters of movies.
  public static var poster: ToolResource {
    ToolResource(noun: "a poster", FetchPosterCommand.self, explain: PosterOptions.self, [MoviesSettings.self])
  }
}
