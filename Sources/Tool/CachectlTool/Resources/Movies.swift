internal import CacheDomain

/// The options that select a page of movies.
struct MoviesOptions: FetchableOptions {
  static var resourceName: String { "movies" }
  static var explainExamples: [String] { ["cachectl explain movies --query amelie --max-age 5m"] }
  static var abstract: String { "Search movies by the words of their titles" }
  static var discussion: String {
    "Movies come in pages from the configured origin. A query that found something is remembered: see `cachectl queries`."
  }
  static var examples: [String] {
    ["cachectl fetch movies --query \"star wars\"", "cachectl fetch movies --query amelie --output json"]
  }

  @Option(help: ArgumentHelp("Search titles for the words of TEXT", valueName: "text"))
  var query: String

  @Option(help: ArgumentHelp("Show page N; the first is 1 (of cities, 0)", valueName: "n"))
  var page = 1

  @Option(help: ArgumentHelp("Show at most N movies", valueName: "n"))
  var limit: Int?

  func validate() throws(ValidationError) {
    if MovieQuery(query) == nil { throw ValidationError("--query needs at least one word") }
    if page < 1 { throw ValidationError("--page of movies begins at 1, and only that of cities at 0") }
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

struct QueriesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "queries", abstract: "Show recent movie queries, the newest first",
    discussion: "`queries.maxCount` sets how many are remembered.", examples: ["cachectl queries --limit 5"])

  @Option(help: ArgumentHelp("Show at most N queries", valueName: "n"))
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

struct FetchPosterCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "poster", abstract: "Fetch the image of a movie's poster",
    discussion: """
      Without --out, the image is written to stdout, unless stdout is a terminal. With --output json, ndjson or csv, facts \
      about the image are printed instead.
      """,
    examples: [
      "cachectl fetch poster /2201.png --width 342 --out kick-ass.png",
      "cachectl fetch poster /2201.png --output json",
    ])

  @OptionGroup
  var poster: PosterOptions

  @OptionGroup
  var display: PosterDisplay

  @OptionGroup(title: "Cache")
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
      let progress = TransferProgress(of: "the origin", isVisible: global.showsWaiting)
      defer { progress.finish() }
      var last: Snapshot<Poster>?
      for try await snapshot in try poster.snapshots(session.container.context(store), fetch.options) {
        writes.note(snapshot)
        last = snapshot
      }
      progress.finish()
      if let last { try deliver(last, session) }
    }
  }

  /// The path of the file; `nil` for stdout.
  private var file: String? { display.out?.meansOutput == true ? nil : display.out }

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

/// The option that says where an image is written.
struct PosterDisplay: ParsableArguments {
  @Option(
    name: [.customShort("o"), .long], help: ArgumentHelp("Write the image to FILE", valueName: "file"),
    completion: .file())
  var out: String?
}

/// The options that select a poster.
struct PosterOptions: ExplainableOptions {
  typealias Display = PosterDisplay

  static var resourceName: String { "poster" }
  static var explainExamples: [String] { ["cachectl explain poster /2201.png --width 342"] }

  @Argument(help: "The path of the poster, such as /2201.png, as `fetch movies` shows it")
  var path: String

  @Option(
    help: ArgumentHelp(
      "Fetch the nearest to PX pixels of the widths 92, 154, 185, 342, 500 and 780; the sample has 342 alone",
      valueName: "px"))
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
