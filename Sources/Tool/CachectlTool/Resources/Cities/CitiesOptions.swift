internal import ArgumentParser
internal import CacheComposition
internal import CacheDomain

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
    try CitiesDIContainer(context).makeFetchCitiesUseCase().execute(query, options: options)
  }
}

extension ToolResource {
  /// Cities by revenue, number of organizations or name.
  public static var cities: ToolResource {
    ToolResource(noun: "cities", FetchCitiesCommand.self, explain: CitiesOptions.self, [CitiesSettings.self])
  }
}
