internal import CommandLineKit
internal import CacheDomain
internal import CachePresentation

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
    let query = poster.query
    try await session.fetching(fetch) { store, writes throws(CacheError) in
      let posters = try session.container.context(store).makePosterImagesRepository()
      var last: Snapshot<Poster>?
      for try await snapshot in posters.poster(query, options: fetch.options) {
        writes.note(snapshot)
        last = snapshot
      }
      if let last { try deliver(last, query, session) }
    }
  }

  /// The path of the file; `nil` for the standard output.
  private var file: String? { out?.meansOutput == true ? nil : out }

  private func deliver(
    _ snapshot: Snapshot<Poster>, _ query: PosterQuery, _ session: Session
  ) throws(CacheError) {
    let view = PosterView(snapshot, query: query, backend: session.configuration.backend, file: file)
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
struct PosterOptions: ParsableArguments {
  @Argument(help: "The path of the poster, such as /2201.png")
  var path: String

  @Option(help: "The width in pixels; the nearest of 92, 154, 185, 342, 500 and 780 is fetched")
  var width = 342

  func validate() throws(ValidationError) {
    if path.isEmpty { throw ValidationError("PATH must not be empty") }
    if width < 1 { throw ValidationError("--width is 1 or more") }
  }

  var query: PosterQuery { PosterQuery(path: path, width: width) }
}

extension PosterOptions: ExplainableOptions {
  static var resourceName: String { "poster" }

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
