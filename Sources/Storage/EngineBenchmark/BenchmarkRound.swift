internal import CacheBase
package import EngineAPI

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
    self.context = context
    self.workload = workload
    self.subject = subject
    self.number = number
    self.keys = keys
    self.storeNumber = storeNumber
    store = try RoundStore(subject, context, number: storeNumber)
    check = Self.check(context, workload, keys)
  }

  /// Runs one phase and measures it.
  mutating func run(_ index: Int) async throws(CacheError) -> PhaseCost {
    let phase = workload.phases[index]
    if phase.kind == .load { try await begin() }
    let referenceSeconds = timeReferenceWork(phase)
    try await context.options.rendezvous?("\(storeNumber).\(index)")
    let engine = try await openEngine()
    // The workers open the store themselves then, and use no other engine.
    if phase.kind == .open { try await close() }
    let job = PhaseJob(self, phase, engine: engine, check: check)
    var random = SeededGenerator(seed: context.options.seed, path: UInt64(number), UInt64(index))
    var cost = try await job.run(on: context.threads, seed: random.next(), resident: residentBytes)
    if phase.kind == .load { check.ledger.noteLoad(count: workload.entries) }
    cost.round.storageBytes = try await inspect(after: phase)
    cost.round.referenceSeconds = referenceSeconds
    return cost
  }

  /// Closes the store and removes it.
  mutating func end() async throws(CacheError) {
    let store = store
    defer { store.removeFolder() }
    fetcher = nil
    check = Self.check(context, workload, keys, capacity: 0)
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
    _ = try await openEngine()
  }

  private mutating func close() async throws(CacheError) {
    let engine = engine
    self.engine = nil
    fetcher = nil
    try await engine?.close()
  }

  /// The engine, opened if necessary.
  private mutating func openEngine() async throws(CacheError) -> any StorageEngine {
    if let engine { return engine }
    let engine = try await store.open()
    self.engine = engine
    fetcher = try await context.actions.makeFetcher[workload.payload]?(target(engine))
    return engine
  }

  private func target(_ engine: any StorageEngine) -> BenchmarkStore {
    let keys = keys
    let values = check.values
    return BenchmarkStore(
      engine: engine, capabilities: subject.plugin.declaration.capabilities, maximumEntries: maximumEntries,
      key: { number throws(CacheError) in try keys.key(number) },
      bytes: TypedPayload(
        encode: { values.payload(tag: values.tag($0, 1)) },
        isRight: { values.isPayload($1, tag: values.tag($0, 1)) }))
  }

  private var maximumEntries: Int? { workload.maximumEntries(processes: context.options.share?.count ?? 1) }

  /// Checks outside the measurement that the store contains what was written, through the engine's own count and a
  /// sample of entries: that catches an engine that loses entries that no worker happens to read. Returns its size.
  private mutating func inspect(after phase: WorkloadPhase) async throws(CacheError) -> Int {
    let engine = try await openEngine()
    let count = try await engine.count()
    if let maximumEntries {
      guard (maximumEntries * 9 / 10...maximumEntries).contains(count.entries) else {
        throw .wrongAnswer(
          "the store holds \(count.entries) entries where it should be full with \(maximumEntries)")
      }
      if context.options.share == nil { try await readSample(of: engine) }
    }
    guard phase.writes, !workload.payload.isThroughCache else { return count.storageBytes }
    if context.options.share == nil, let fault = faultOfCount(count.entries) { throw fault }
    let written = check.ledger.count
    for number in stride(from: 0, to: written, by: max(1, written / Self.sampleSize)) {
      try await check.read(engine, keys.key(number), number, floor: check.ledger.committed(number))
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

  /// The maximum number of entries to read after a phase.
  private static let sampleSize = 1_000

  private func faultOfCount(_ entries: Int) -> CacheError? {
    let all = check.ledger.count
    let dropsByItself = subject.plugin.declaration.capabilities.contains(.expiring)
    let kept = workload.expiringShare > 0 ? (0..<all).count { !check.values.isExpired($0) } : all
    let allowed = check.ledger.isCompacted ? kept...kept : (dropsByItself ? kept : all)...all
    guard !allowed.contains(entries) else { return nil }
    return .wrongAnswer("the engine counts \(entries) entries where there are \(allowed.upperBound)")
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
    var request = ScanRequest()
    repeat {
      let page = try await engine.scan(request)
      var batch = WriteBatch()
      for entry in page.entries where isIncluded(entry.key) { batch.remove(entry.key) }
      try await engine.apply(batch)
      request.position = page.next
    } while request.position != nil
  }
}

/// A clock that stands still: no entry expires by itself during a benchmark.
package struct FixedClock: WallClock {
  package let now: Timestamp

  package init(now: Timestamp) { self.now = now }
}
