internal import CacheDomain
internal import CachePresentation

/// Walks every page of cities and shows them: page by page if the format allows it, otherwise as one page of them all.
struct AllCities {
  let session: Session
  let cities: CitiesOptions
  let options: FetchOptions
  let limit: Int?

  private var global: GlobalOptions { session.global }

  /// - Throws: `CacheError`: a page is missing. If pages are shown one by one, those before it have been shown.
  func show(from pages: FetchCitiesUseCase, _ writes: inout WriteFailures) async throws(CacheError) {
    let useCase = FetchAllCitiesUseCase(
      pages: pages, maxConcurrentRequests: session.configuration.cities.transport.maxConcurrentRequests)
    var output = CitiesOutput(global.output, limit: limit)
    let progress = ProgressDisplay("Fetching cities", isVisible: showsProgress)
    defer { progress.finish() }
    let summary = try await useCase.execute(
      order: cities.order, direction: cities.sort, limit: limit, options: options
    ) { page, summary throws(CacheError) in
      writes.note(page)
      try output.add(page)
      progress.update(done: summary.donePages, total: summary.totalPages)
    }
    progress.finish()
    try finish(output, summary)
  }

  private func finish(_ output: CitiesOutput, _ summary: PagesSummary) throws(CacheError) {
    let view = AllCitiesView(output.cities, summary, backend: session.configuration.backend, limit: limit)
    if let failure = summary.failure {
      for warning in view.warnings where warning.message != failure.message { global.warn(warning) }
      throw summary.error(failure, options.policy, isKept: session.configuration.storePath != nil)
    }
    guard output.isStreamed else { return try global.show(view) }
    for warning in view.warnings { global.warn(warning) }
    if global.showsProgress, let status = view.status { global.remark(status) }
  }

  /// Cities that scroll by on the terminal are progress enough.
  private var showsProgress: Bool {
    let isSeen = global.output.isStreamed && Console.output.screen.isTerminal
    return global.showsProgress && !global.verbose && !isSeen
  }
}

/// Writes cities as their pages come, or collects them if the format needs them all at once.
private struct CitiesOutput {
  private let format: OutputFormat
  private let limit: Int?
  private var count = 0
  private var hasHeader = true
  private(set) var cities: [City] = []

  init(_ format: OutputFormat, limit: Int?) {
    self.format = format
    self.limit = limit
  }

  var isStreamed: Bool { format.isStreamed }

  mutating func add(_ page: Snapshot<CitiesPage>) throws(CacheError) {
    guard isStreamed else { return cities += page.value.cities }
    let view = CitiesView(page, backend: nil, limit: limit.map { max($0 - count, 0) })
    try Console.output.write(OutputRenderer(format, on: Console.output.screen).text(view, hasHeader: hasHeader))
    count += page.value.cities.count
    hasHeader = false
  }
}

extension OutputFormat {
  /// Whether a record can be written before the next ones are known.
  fileprivate var isStreamed: Bool { self == .ndjson || self == .csv }
}

extension PagesSummary {
  /// `failure`, with how far the walk has come and how to continue it.
  fileprivate func error(_ failure: CacheError, _ policy: FetchPolicy, isKept: Bool) -> CacheError {
    guard isKept, keptPages > 0 else { return failure }
    let reason = failure.code == .cancelled ? "interrupted" : failure.message
    let count = "\(NumberText.text(keptPages)) of \(NumberText.count(totalPages, "page is", "pages are")) in the cache"
    let command = policy == .cacheFirst ? "the same command" : "--policy cache-first"
    let continuation = failure.code == .notCached ? "" : "\(command) goes on from there"
    let advice = [failure.hint, continuation].filter { !$0.isEmpty }.joined(separator: "; ")
    return CacheError(failure.code, "\(reason); \(count)", hint: advice, cause: failure)
  }
}
