public import CacheDomain

struct FetchCitiesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cities", abstract: "Fetch cities, by default ordered by revenue",
    discussion: """
      Cities come in pages from the configured origin, a sample unless you configure another one. Numbers sort \
      descending and names ascending, unless --sort says otherwise.
      """,
    examples: [
      "cachectl fetch cities --order organizations --limit 10",
      "cachectl fetch cities --order name --page 3 --output json",
      "cachectl fetch cities --all --output csv > cities.csv",
    ])

  @OptionGroup
  var cities: CitiesOptions

  @OptionGroup
  var display: CitiesDisplay

  @OptionGroup(title: "Cache")
  var fetch: FetchFlags

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func validate() throws(ValidationError) {
    if display.all, cities.page != nil { throw ValidationError("--all and --page exclude each other") }
  }

  func run() async throws {
    let session = try Session(global)
    try await session.fetching(fetch) { store, writes throws(CacheError) in
      let useCase = try session.container.context(store).makeFetchCitiesUseCase()
      if display.all { return try await showAll(useCase, session, &writes) }
      let snapshots = useCase.execute(cities.query, options: fetch.options)
      try await global.show(snapshots) { snapshot in
        writes.note(snapshot)
        return SnapshotView(snapshot, backend: session.configuration.backend, limit: display.limit)
      }
    }
  }

  /// Walks every page of cities and shows them: page by page if the format allows it, otherwise as one page of them all.
  ///
  /// - Throws: `CacheError`: a page is missing. If pages are shown one by one, those before it have been shown.
  private func showAll(
    _ pages: FetchCitiesUseCase, _ session: Session, _ writes: inout WriteFailures
  ) async throws(CacheError) {
    let limit = display.limit
    let isStreamed = global.output == .ndjson || global.output == .csv
    // Cities that scroll by on the terminal are progress enough.
    let isSeen = isStreamed && Console.output.screen.isTerminal
    let progress = ProgressDisplay(
      "Fetching cities", isVisible: global.showsProgress && !global.verbose && !isSeen)
    defer { progress.finish() }
    let useCase = FetchAllCitiesUseCase(
      pages: pages, maxConcurrentRequests: session.configuration.cities.transport.maxConcurrentRequests)
    let renderer = OutputRenderer(global.output, on: Console.output.screen)
    var collected: [City] = []
    let summary = try await useCase.execute(
      order: cities.order, direction: cities.sort, limit: limit, options: fetch.options
    ) { page, summary throws(CacheError) in
      writes.note(page)
      if isStreamed {
        let shown = summary.cityCount - page.value.cities.count
        let view = SnapshotView(page, backend: nil, limit: limit.map { max($0 - shown, 0) })
        try Console.output.write(renderer.text(view, hasHeader: summary.donePages == 1))
      } else {
        collected += page.value.cities
      }
      progress.update(done: summary.donePages, total: summary.totalPages)
    }
    progress.finish()
    let view = SnapshotView(collected, summary, backend: session.configuration.backend, limit: limit)
    if let failure = summary.failure {
      for warning in view.warnings where warning.message != failure.message { global.warn(warning) }
      throw summary.error(failure, fetch.options.policy, isKept: session.configuration.storePath != nil)
    }
    guard isStreamed else { return try global.show(view) }
    for warning in view.warnings { global.warn(warning) }
    if global.showsProgress { global.remark(view.status) }
  }
}

extension PagesSummary {
  /// `failure`, with how far the walk has come and how to continue it.
  fileprivate func error(_ failure: CacheError, _ policy: FetchPolicy, isKept: Bool) -> CacheError {
    guard isKept, keptPages > 0 else { return failure }
    let reason = failure.code == .cancelled ? "interrupted" : failure.message
    let count = "\(NumberText.text(keptPages)) of \(NumberText.count(totalPages, "page is", "pages are")) in the cache"
    let command = policy == .cacheFirst ? "the same command" : "--policy cache-first"
    let continuation = failure.code == .notCached ? "" : "\(command) continues from there"
    let advice = [failure.hint, continuation].filter { !$0.isEmpty }.joined(separator: "; ")
    return CacheError(failure.code, "\(reason); \(count)", hint: advice, cause: failure)
  }
}

/// The options that say how many cities to show.
struct CitiesDisplay: ParsableArguments {
  @Flag(help: "Fetch every page")
  var all = false

  @Option(help: ArgumentHelp("Show at most N cities", valueName: "n"))
  var limit: Int?

  func validate() throws(ValidationError) {
    if let limit, limit < 0 { throw ValidationError("--limit is 0 or more") }
  }
}

/// The options that select a page of cities.
struct CitiesOptions: ExplainableOptions {
  typealias Display = CitiesDisplay

  static var resourceName: String { "cities" }
  static var explainExamples: [String] { ["cachectl explain cities --order name --page 3"] }

  @Option(help: "Order cities by this")
  var order = CityOrder.revenue

  @Option(help: "Sort in this direction")
  var sort: SortDirection?

  @Option(help: ArgumentHelp("Show page N; the first is 0, the default (of movies, 1)", valueName: "n"))
  var page: Int?

  func validate() throws(ValidationError) {
    if let page, page < 0 { throw ValidationError("--page of cities begins at 0") }
  }

  fileprivate var query: CitiesQuery { CitiesQuery(order: order, direction: sort, page: page ?? 0) }

  func snapshots(
    _ context: ResourceContext, _ options: FetchOptions
  ) throws(CacheError) -> Snapshots<CitiesPage> {
    try context.makeFetchCitiesUseCase().execute(query, options: options)
  }
}

extension CityOrder: ExpressibleByArgument {}
extension SortDirection: ExpressibleByArgument {}

extension ToolResource {
  /// Cities by revenue, number of organizations or name.
  public static var cities: ToolResource {
    ToolResource(noun: "cities", FetchCitiesCommand.self, explain: CitiesOptions.self, [CitiesSettings.self])
  }
}
