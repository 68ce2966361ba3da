internal import CacheBase
internal import EngineAPI
internal import Synchronization

/// The store of one round of a workload over one engine: made for a load, used by the phases after it, and then removed.
struct RoundStore {
  /// The maximum number of entries to read after a phase.
  private static let sampleSize = 1_000

  let runner: BenchmarkRunner
  let workload: Workload
  let plugin: any StoragePlugin
  let configuration: EngineConfiguration
  let check: EntryCheck
  private let threads: [WorkerThread]
  private let folder: String
  /// The resident memory of the process before the store was opened.
  let residentBytes: Int?
  private var engine: (any StorageEngine)?
  /// Reads through a cache over the engine; `nil` unless the workload does.
  private(set) var readCached: BenchmarkActions.Read?

  /// Store `number` of the run. Creates nothing yet.
  init(
    _ runner: BenchmarkRunner, _ workload: Workload, _ subject: BenchmarkSubject, _ keys: KeySpace,
    _ threads: [WorkerThread], number: Int
  ) throws(CacheError) {
    let options = runner.options
    self.runner = runner
    self.workload = workload
    self.threads = threads
    plugin = subject.plugin
    configuration = try subject.configuration(options, number: number)
    folder = "\(options.scratchFolder)/\(options.runName)-\(number)"
    check = EntryCheck(
      ledger: EntryLedger(count: workload.entries),
      values: EntryValues(workload, seed: options.seed, now: options.date), keys: keys,
      typed: workload.payload == .typed ? runner.actions.typed : nil)
    residentBytes = runner.probe.trimmedMemoryBytes()
  }

  /// Runs one phase and measures it.
  mutating func run(
    _ phase: WorkloadPhase, seed: UInt64, _ progress: BenchmarkProgress
  ) async throws(CacheError) -> BenchmarkMeasurement {
    let engine = try await openEngine()
    let start = runner.probe.now()
    runner.probe.doReferenceWork(phase.writes ? runner.options.scratchFolder : nil)
    let referenceSeconds = Double(runner.probe.now() - start) / 1e9
    try await runner.begin(progress)
    // The workers open the store themselves then, and use no other engine.
    if phase.kind == .open { try await close() }
    var cost = try await PhaseRun(phase, self, engine).run(on: threads, seed: seed)
    cost.rounds[0].referenceSeconds = referenceSeconds
    cost.rounds[0].storageBytes = try await inspect(after: phase)
    return cost
  }

  /// Closes the store and removes it. If other processes can still be using it, removes only the entries of this one,
  /// and leaves the folder. A leftover folder goes with the scratch folder.
  mutating func remove() async throws(CacheError) {
    defer { if !isShared { Folders.remove(folder) } }
    if let engine, plugin.declaration.isOnServer { try await removeEntries(of: engine) }
    try await close()
  }

  private var isShared: Bool { runner.options.processes > 1 }

  private mutating func close() async throws(CacheError) {
    let engine = engine
    self.engine = nil
    readCached = nil
    try await engine?.close()
  }

  /// The engine, opened if necessary.
  private mutating func openEngine() async throws(CacheError) -> any StorageEngine {
    if let engine { return engine }
    let engine = try await plugin.open(configuration)
    self.engine = engine
    guard let maximumEntries else { return engine }
    let values = check.values
    let keys = check.keys
    let store = BenchmarkStore(
      engine: engine, capabilities: plugin.declaration.capabilities, maximumEntries: maximumEntries,
      key: { number throws(CacheError) in try keys.key(number) },
      bytes: TypedPayload(
        encode: { values.payload(tag: values.tag($0, 1)) },
        isRight: { values.isPayload($1, tag: values.tag($0, 1)) }))
    readCached = runner.actions.openCache?(store)
    return engine
  }

  private var maximumEntries: Int? { workload.maximumEntries(processes: runner.options.processes) }

  /// Checks outside the measurement that the store contains the written entries, through the engine's own count and a
  /// sample of entries: that catches an engine that loses entries that no worker happens to read. Returns its size.
  private mutating func inspect(after phase: WorkloadPhase) async throws(CacheError) -> Int {
    let engine = try await openEngine()
    let count = try await engine.count()
    if let maximumEntries {
      guard (maximumEntries * 9 / 10...maximumEntries).contains(count.entries) else {
        throw .wrongAnswer("the store holds \(count.entries) entries and should be full with \(maximumEntries)")
      }
      if !isShared { try await readSample(of: engine) }
    } else if phase.writes {
      let entries = workload.entries
      guard isShared || count.entries == entries else {
        throw .wrongAnswer("the engine counts \(count.entries) entries, and there are \(entries)")
      }
      for number in stride(from: 0, to: entries, by: max(1, entries / Self.sampleSize)) {
        try await check.read(engine, check.keys.key(number), number, floor: check.ledger.committed(number))
      }
    }
    return count.storageBytes
  }

  /// Reads the first entries that `engine` lists.
  private func readSample(of engine: any StorageEngine) async throws(CacheError) {
    for entry in try await engine.scan(ScanRequest(prefix: KeySpace.prefix, limit: Self.sampleSize)).entries {
      guard try await engine.read(entry.key, { _, _ throws(CacheError) in true }) == nil else { continue }
      throw .wrongAnswer("entry \(entry.key) is listed and cannot be read")
    }
  }

  private func removeEntries(of engine: any StorageEngine) async throws(CacheError) {
    var request = ScanRequest()
    repeat {
      let page = try await engine.scan(request)
      var batch = WriteBatch()
      for entry in page.entries where !isShared || check.keys.owns(entry.key) { batch.remove(entry.key) }
      try await engine.apply(batch)
      request.position = page.next
    } while request.position != nil
  }
}

/// One phase in one round, and what all its workers share.
final class PhaseRun: Sendable {
  let phase: WorkloadPhase
  let store: RoundStore
  let engine: any StorageEngine
  let check: EntryCheck
  let probe: BenchmarkProbe
  let chooser: KeyChooser
  let workers: Int
  private let operations: Int
  private let order: NumberPermutation
  private let cursor = Atomic<Int>(0)

  init(_ phase: WorkloadPhase, _ store: RoundStore, _ engine: any StorageEngine) {
    self.phase = phase
    self.store = store
    self.engine = engine
    check = store.check
    probe = store.runner.probe
    let entries = store.workload.entries
    chooser = KeyChooser(count: entries, isZipfian: phase.isZipfian)
    order = NumberPermutation(count: entries, seed: store.runner.options.seed)
    operations = store.workload.operations(of: phase)
    workers = phase.kind == .open ? 1 : store.runner.options.threads
  }

  /// The next entries to load, at most `phase.batchSize`; empty if all are taken.
  func takeEntries() -> [Int] {
    let start = min(cursor.wrappingAdd(phase.batchSize, ordering: .relaxed).oldValue, operations)
    return (start..<min(start + phase.batchSize, operations)).map { order[$0] }
  }

  /// Runs the phase with all its workers, each on its own thread.
  ///
  /// - Parameter seed: decides all random numbers.
  /// - Returns: the cost of the round.
  /// - Throws: the first failure, after all other workers have ended.
  func run(on threads: [WorkerThread], seed: UInt64) async throws(CacheError) -> BenchmarkMeasurement {
    let canTellPeak = probe.resetPeakMemory()
    let processor = probe.processorNanoseconds()
    let workers = try await runWorkers(on: threads, seed)
    let processorSeconds = Double(probe.processorNanoseconds() - processor) / 1e9
    let peak = canTellPeak ? probe.peakMemoryBytes() : nil
    let begin = workers.map(\.began).min() ?? 0
    let end = workers.map(\.ended).max() ?? begin
    var round = BenchmarkMeasurement.Round(
      operations: workers.reduce(0) { $0 + $1.operations }, seconds: Double(end - begin) / 1e9,
      processorSeconds: processorSeconds)
    if let peak, let resident = store.residentBytes { round.peakMemoryBytes = max(0, peak - resident) }
    if store.readCached != nil, !phase.isLoad { round.hits = workers.reduce(0) { $0 + $1.hits } }
    var cost = BenchmarkMeasurement(rounds: [round])
    for worker in workers { cost.latencies.merge(worker.latencies) }
    return cost
  }

  private func runWorkers(on threads: [WorkerThread], _ seed: UInt64) async throws(CacheError) -> [Worker] {
    try await withTaskGroup(of: Result<Worker, CacheError>.self) { group -> Result<[Worker], CacheError> in
      for index in 0..<workers {
        group.addTask(executorPreference: threads[index]) { await self.runWorker(index, seed) }
      }
      var ended: [Worker] = []
      var failure: CacheError?
      for await result in group {
        switch result {
        case .success(let worker): ended.append(worker)
        case .failure(let error):
          // Those after the first might only have been cancelled.
          failure = failure ?? error
          group.cancelAll()
        }
      }
      return failure.map { .failure($0) } ?? .success(ended)
    }.get()
  }

  private func runWorker(_ index: Int, _ seed: UInt64) async -> Result<Worker, CacheError> {
    var worker = Worker(self, index: index, seed: seed)
    let count = operations / workers + (index < operations % workers ? 1 : 0)
    do { try await worker.run(count) } catch { return .failure(error) }
    return .success(worker)
  }
}
