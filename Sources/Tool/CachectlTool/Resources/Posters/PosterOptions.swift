internal import ArgumentParser
internal import CacheComposition
internal import CacheDomain

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
    try MoviesDIContainer(context).makeFetchPosterUseCase().execute(query, options: options)
  }
}

extension ToolResource {
  /// The posters of movies.
  public static var poster: ToolResource {
    ToolResource(noun: "a poster", FetchPosterCommand.self, explain: PosterOptions.self, [MoviesSettings.self])
  }
}
