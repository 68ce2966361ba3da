internal import CommandLineKit
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
      let useCase = try session.container.context(store).makeFetchCitiesUseCase()
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

/// The options that select a page of cities.
struct CitiesOptions: ParsableArguments {
  @Option(help: "What cities are ordered by")
  var order = CityOrder.revenue

  @Option(help: "The direction; numbers descending and names ascending unless given")
  var sort: SortDirection?

  @Option(help: "Which page, from 0, the default")
  var page: Int?

  func validate() throws(ValidationError) {
    if let page, page < 0 { throw ValidationError("--page begins at 0") }
  }

  var query: CitiesQuery { CitiesQuery(order: order, direction: sort, page: page ?? 0) }
}

extension CitiesOptions: ExplainableOptions {
  static var resourceName: String { "cities" }

  func snapshots(
    _ context: ResourceContext, _ options: FetchOptions
  ) throws(CacheError) -> Snapshots<CitiesPage> {
    try context.makeFetchCitiesUseCase().execute(query, options: options)
  }
}

extension ToolResource {
  /// Cities by revenue, number of organizations or name.
  public static var cities: ToolResource {
    ToolResource(noun: "cities", FetchCitiesCommand.self, explain: CitiesOptions.self, [CitiesSettings.self])
  }
}
