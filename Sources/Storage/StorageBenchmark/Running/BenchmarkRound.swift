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
  mutating func run(_ index: Int) async throws(BenchmarkFailure) -> PhaseMeasurement {
    let phase = workload.phases[index]
    let reference: Double
    do throws(CacheError) {
      if phase.kind == .load { try await begin() }
      reference = timeReferenceWork(phase)
      try await context.options.rendezvous?("\(storeNumber).\(index)")
      if phase.kind == .open { try await close() }
    } catch { throw BenchmarkFailure(error) }
    let job = PhaseJob(self, phase, engine: try await openEngine(unless: phase.kind == .open), check: check)
    let runner = PhaseRunner(job, context, resident: residentBytes, operations: workload.operations(of: phase))
    var random = SeededGenerator(seed: context.options.seed, path: UInt64(number), UInt64(index))
    var measurement = try await runner.run(seed: random.next())
    if phase.kind == .load { check.ledger.noteLoad(count: workload.entries) }
    measurement.storageBytes = try await inspect(after: phase)
    measurement.referenceSeconds = reference
    return measurement
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
  private mutating func openEngine(unless isClosed: Bool) async throws(BenchmarkFailure) -> any StorageEngine {
    if isClosed { return ClosedEngine() }
    do throws(CacheError) {
      if engine == nil { try await open() }
    } catch { throw BenchmarkFailure(error) }
    return engine ?? ClosedEngine()
  }

  /// Checks the store after a phase, and returns its size.
  private mutating func inspect(after phase: WorkloadPhase) async throws(BenchmarkFailure) -> Int {
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
