internal import ArgumentParser
internal import CacheComposition
internal import CacheDomain
internal import CachePresentation

/// `fetch cities`.
struct FetchCitiesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cities", abstract: "Fetch cities, by default ordered by revenue",
    discussion: """
      Examples:
        cachectl fetch cities --order organizations --limit 10
        cachectl fetch cities --order name --page 3 --output json
        cachectl fetch cities --all --output csv > cities.csv
      """)

  @OptionGroup
  var cities: CitiesOptions

  @Flag(help: "Every page")
  var all = false

  @Option(help: "Show at most N cities")
  var limit: Int?

  @OptionGroup(title: "Fetch options")
  var fetch: FetchFlags

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func validate() throws(ValidationError) {
    if all, cities.page != nil { throw ValidationError("--all and --page exclude each other") }
    if let limit, limit < 0 { throw ValidationError("--limit is 0 or more") }
  }

  func run() async throws {
    let session = try Session(global)
    try await session.fetching(fetch) { store, writes throws(CacheError) in
      let useCase = try session.container.makeCitiesDIContainer(store).makeFetchCitiesUseCase()
      if all {
        let cities = AllCities(session: session, cities: cities, options: fetch.options, limit: limit)
        return try await cities.show(from: useCase, &writes)
      }
      let snapshots = useCase.execute(cities.query, options: fetch.options)
      try await SnapshotsDisplay(global: global).show(snapshots) { snapshot in
        writes.note(snapshot)
        return CitiesView(snapshot, backend: session.configuration.backend, limit: limit)
      }
    }
  }
}
