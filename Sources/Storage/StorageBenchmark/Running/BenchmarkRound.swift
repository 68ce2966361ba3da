internal import Base
internal import StorageSPI

/// One round of a workload over one engine: its phases, one after the other, on its own stores.
struct BenchmarkRound {
  let context: BenchmarkContext
  let workload: Workload
  let subject: BenchmarkSubject
  /// The number of the round, on which random choices depend.
  let number: Int
  private(set) var store: RoundStore
  private(set) var fetcher: (any BenchmarkFetcher)?

  private var engine: (any StorageEngine)?
  private var check: EntryCheck
  private let keys: KeySpace
  private var storeNumber: Int
  /// The resident memory of the process before the store was opened.
  private var residentBytes: Int?

  /// - Parameter storeNumber: the first of as many store numbers as the workload has phases.
  init(
    _ context: BenchmarkContext, _ workload: Workload, _ subject: BenchmarkSubject, _ keys: KeySpace, number: Int,
    storeNumber: Int
  ) throws(CacheError) {
    (self.context, self.workload, self.subject, self.number) = (context, workload, subject, number)
    (self.keys, self.storeNumber) = (keys, storeNumber)
    store = try RoundStore(subject, context, number: storeNumber)
    check = Self.check(context, workload, keys)
  }

  /// Runs one phase and measures it.
  mutating func run(_ index: Int) async throws(CacheError) -> PhaseCost {
    let phase = workload.phases[index]
    if phase.kind == .load { try await begin() }
    let referenceSeconds = timeReferenceWork(phase)
    try await context.options.rendezvous?("\(storeNumber).\(index)")
    if phase.kind == .open { try await close() }
    let job = PhaseJob(self, phase, engine: try await openEngine(unless: phase.kind == .open), check: check)
    let runner = PhaseRunner(job, context, resident: residentBytes, operations: workload.operations(of: phase))
    var random = SeededGenerator(seed: context.options.seed, path: UInt64(number), UInt64(index))
    var cost = try await runner.run(seed: random.next())
    if phase.kind == .load { check.ledger.noteLoad(count: workload.entries) }
    cost.round.storageBytes = try await inspect(after: phase)
    cost.round.referenceSeconds = referenceSeconds
    return cost
  }

  /// Closes the store and removes it.
  mutating func end() async throws(CacheError) {
    let store = store
    defer { store.removeFolder() }
    (fetcher, check) = (nil, Self.check(context, workload, keys, capacity: 0))
    guard let engine = self.engine else { return }
    self.engine = nil
    try await store.dispose(of: engine, keys)
  }

  /// Does the reference work, and returns how many seconds it took.
  private func timeReferenceWork(_ phase: WorkloadPhase) -> Double {
    let start = context.probe.now()
    context.probe.doReferenceWork(phase.writes ? context.options.scratchFolder : nil)
    return Double(context.probe.now() - start) / 1e9
  }

  /// Starts over with an empty store.
  private mutating func begin() async throws(CacheError) {
    if engine != nil {
      try await end()
      storeNumber += 1
    }
    store = try RoundStore(subject, context, number: storeNumber)
    check = Self.check(context, workload, keys)
    context.probe.trimMemory()
    residentBytes = context.probe.residentBytes()
    try await open()
  }

  private mutating func open() async throws(CacheError) {
    let engine = try await store.open()
    self.engine = engine
    fetcher = try await context.actions.fetcher(of: workload.payload)?(engine)
  }

  private mutating func close() async throws(CacheError) {
    let engine = engine
    (self.engine, fetcher) = (nil, nil)
    try await engine?.close()
  }

  /// The engine, opened if necessary; a `ClosedEngine` if the phase opens stores itself.
  private mutating func openEngine(unless isClosed: Bool) async throws(CacheError) -> any StorageEngine {
    if isClosed { return ClosedEngine() }
    if engine == nil { try await open() }
    return engine ?? ClosedEngine()
  }

  /// Checks the store after a phase, and returns its size.
  private mutating func inspect(after phase: WorkloadPhase) async throws(CacheError) -> Int {
    let engine = try await openEngine(unless: false)
    let inspection = StoreInspector(engine: engine, check: check, workload: workload, subject: subject)
    return try await inspection.run(after: phase, isShared: context.options.share != nil)
  }

  private static func check(
    _ context: BenchmarkContext, _ workload: Workload, _ keys: KeySpace, capacity: Int? = nil
  ) -> EntryCheck {
    let options = context.options
    return EntryCheck(
      ledger: EntryLedger(capacity: capacity ?? workload.capacity),
      values: EntryValues(workload, seed: options.seed, now: options.date),
      keys: keys,
      typed: workload.payload == .typed ? context.actions.typed : nil)
  }
}

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

/// Takes the place of the engine in phases that open the store themselves: every use is an error.
final class ClosedEngine: StorageEngine {
  func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? { throw .storeClosed }

  func apply(_ batch: WriteBatch) async throws(CacheError) { throw .storeClosed }

  func scan(_ range: KeyRange, limit: Int) async throws(CacheError) -> [EntrySummary] { throw .storeClosed }

  func statistics() async throws(CacheError) -> StorageStatistics { throw .storeClosed }

  func checkIntegrity() async throws(CacheError) -> [IntegrityIssue] { throw .storeClosed }

  func compact() async throws(CacheError) { throw .storeClosed }

  func close() async throws(CacheError) {}
}
