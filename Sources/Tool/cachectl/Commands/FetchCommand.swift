internal import ArgumentParser

/// Fetches a resource from the cache, the origin, or both.
struct FetchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fetch", abstract: "Fetch cities, movies, a poster or any URL through the cache",
    subcommands: [
      FetchCitiesCommand.self, FetchMoviesCommand.self, FetchPosterCommand.self, FetchURLCommand.self,
    ])
}
