internal import StorageSPI

/// A store made for one load and removed after it.
struct RoundStore: Sendable {
  private let subject: BenchmarkSubject
  private let configuration: EngineConfiguration
  private let folder: String
  private let share: BenchmarkShare?

  /// Store `number` of the run. Creates nothing yet.
  init(_ subject: BenchmarkSubject, _ context: BenchmarkContext, number: Int) throws(CacheError) {
    self.subject = subject
    let options = context.options
    let name = Self.name(options.runName, number)
    folder = "\(options.scratchFolder)/\(name)"
    share = options.share
    configuration = try subject.configuration(
      folder: folder, name: name, durability: options.durability, clock: FixedClock(now: options.date))
  }

  /// The name of store `number` of the run called `run`.
  static func name(_ run: String, _ number: Int) -> String { "\(run)-\(number)" }

  /// Opens the store, creating it if necessary.
  func open() async throws(CacheError) -> any StorageEngine { try await subject.plugin.open(configuration) }

  /// Removes what the store would leave behind, and closes it. If other shares may still be using the store, removes
  /// only this share's entries, and leaves the folder.
  func dispose(of engine: any StorageEngine, _ keys: KeySpace) async throws(CacheError) {
    if subject.hasNamedStore { try await Self.removeEntries(of: engine) { share == nil || keys.owns($0) } }
    try await engine.close()
  }

  /// Removes the folder of the store. A leftover goes when the scratch folder is removed.
  func removeFolder() {
    guard share == nil else { return }
    FolderRemoval.remove(folder)
  }

  /// Removes the entries of `engine` whose keys satisfy `isIncluded`.
  static func removeEntries(
    of engine: any StorageEngine, _ isIncluded: (CacheKey) -> Bool
  ) async throws(CacheError) {
    var range = KeyRange()
    while true {
      let summaries = try await engine.scan(range, limit: 1_000)
      var batch = WriteBatch()
      for summary in summaries where isIncluded(summary.key) { batch.remove(summary.key) }
      try await engine.apply(batch)
      guard summaries.count == 1_000, let last = summaries.last else { return }
      range.after = last.key
    }
  }
}

/// A clock that stands still: no entry expires by itself during a benchmark.
struct FixedClock: WallClock {
  let now: Timestamp
}
