internal import CacheBase
internal import EngineAPI

/// One of the workers of a phase. It has its own thread, random numbers and histogram, and shares a `PhaseJob` with the
/// others.
struct Worker: Sendable {
  let job: PhaseJob
  var histogram = LatencyHistogram()
  /// The number of operations done; each operation of a batch counts.
  var operations = 0
  /// The number of fetches that the store answered.
  var hits = 0
  var random: SeededGenerator
  /// When the worker started.
  let began: UInt64
  /// When its last operation ended.
  private(set) var ended: UInt64

  private var chooser: KeyChooser
  private var schedule: Schedule

  init(_ job: PhaseJob, index: Int, seed: UInt64) {
    self.job = job
    random = SeededGenerator(seed: seed, path: UInt64(index))
    let count = max(1, job.check.ledger.count)
    chooser = KeyChooser(
      job.phase.distribution, count: UInt64(count), expected: UInt64(max(count, job.expected)), worker: index,
      workers: job.workers)
    began = job.probe.now()
    ended = began
    // The workers are staggered, so that together they keep the rate evenly.
    let turn = (job.interval ?? 0) * Double(index) / Double(job.workers)
    schedule = Schedule(start: began + UInt64(turn), interval: job.interval)
  }

  /// Does `count` operations of the phase, or everything that is left of a load.
  mutating func run(_ count: Int) async throws(CacheError) {
    switch job.phase.kind {
    case .load: try await runLoad()
    case .expire: try await expire()
    case .open: try await repeated(count) { worker throws(CacheError) in try await worker.open() }
    case .operations:
      if job.operations.count == 1, job.operations[0].operation == .read {
        return try await repeated(count) { worker throws(CacheError) in try await worker.read() }
      }
      try await repeated(count) { worker throws(CacheError) in try await worker.runOne() }
    }
  }

  /// The number of an entry, chosen by the distribution of the phase.
  @inline(__always)
  mutating func choose() -> Int {
    Int(truncatingIfNeeded: chooser.next(count: UInt64(job.check.ledger.count), &random))
  }

  /// When the next operation starts, after waiting for that time if there is a target rate.
  @inline(__always)
  mutating func start() -> UInt64 { schedule.isPaced ? schedule.start(job.probe) : job.probe.now() }

  /// Records an operation, or a batch of `count`, that has just ended.
  @inline(__always)
  mutating func finish(_ start: UInt64, operations count: Int = 1) {
    ended = job.probe.now()
    histogram.record(ended > start ? ended - start : 0)
    operations += count
  }

  private mutating func repeated(
    _ count: Int, _ operation: (inout Worker) async throws(CacheError) -> Void
  ) async throws(CacheError) {
    for _ in 0..<count {
      if Task.isCancelled { throw .cancelledRun }
      try await operation(&self)
    }
  }

  private mutating func runOne() async throws(CacheError) {
    switch nextOperation() {
    case .read: try await read()
    case .update: try await update()
    case .insert: try await insert()
    case .scan: try await scan()
    case .readModifyWrite: try await readModifyWrite()
    }
  }

  private mutating func nextOperation() -> WorkloadOperation {
    let draw = random.unit()
    for (operation, share) in job.operations where draw < share { return operation }
    return job.operations.last?.operation ?? .read
  }
}

/// Operations that only read.
extension Worker {
  /// Reads an entry, or fetches it, and checks it.
  @inline(__always)
  mutating func read() async throws(CacheError) {
    let number = choose()
    if let fetcher = job.fetcher { return try await fetch(number, fetcher, isStored: true) }
    let floor = job.check.ledger.committed(number)
    let key = try job.check.keys.key(number)
    let begin = start()
    try await job.check.read(job.engine, key, number, floor: floor)
    finish(begin)
  }

  /// Fetches a resource through the cache.
  mutating func fetch(
    _ number: Int, _ fetcher: any BenchmarkFetcher, isStored: Bool
  ) async throws(CacheError) {
    let begin = start()
    let answer = try await fetcher.fetch(number, isStored: isStored)
    finish(begin)
    if answer == .hit { hits += 1 }
    guard answer != .wrong else { throw .wrongAnswer("what was fetched as number \(number) is not what it is") }
  }

  /// Opens the store, reads an entry, and closes the store.
  mutating func open() async throws(CacheError) {
    let number = choose()
    let floor = job.check.ledger.committed(number)
    let key = try job.check.keys.key(number)
    let begin = start()
    let engine = try await job.store.open()
    do { try await job.check.read(engine, key, number, floor: floor) } catch {
      try? await engine.close()
      throw error
    }
    try await engine.close()
    finish(begin)
  }

  /// Lists entries from a chosen one on, and checks that none is missing.
  mutating func scan() async throws(CacheError) {
    let first = choose()
    let lengths = job.phase.scanLength
    let limit = lengths.lowerBound + Int(random.below(UInt64(lengths.count)))
    let expectation = ScanExpectation(job.check, first: first, limit: limit)
    let position = first + job.check.keys.base > 0 ? try job.check.keys.key(first - 1).text : nil
    var request = ScanRequest(prefix: KeySpace.prefix, after: position, limit: limit)
    let begin = start()
    var page = try await job.engine.scan(request)
    var entries = page.entries
    while let next = page.next, entries.count < limit {
      request.position = next
      request.limit = limit - entries.count
      page = try await job.engine.scan(request)
      entries += page.entries
    }
    finish(begin)
    if let fault = expectation.fault(entries) { throw fault }
  }
}

/// Operations that write.
extension Worker {
  /// An entry that only this worker is writing.
  private struct Claim {
    let number: Int
    let version: UInt32
  }

  /// Stores this worker's part of all entries.
  mutating func runLoad() async throws(CacheError) {
    while true {
      let positions = job.takeEntries()
      guard !positions.isEmpty else { return }
      if Task.isCancelled { throw .cancelledRun }
      try await load(positions)
    }
  }

  /// Stores a new value under the key of an entry.
  mutating func update() async throws(CacheError) {
    if let claim = claim() { try await write([claim]) }
  }

  /// Stores a new entry.
  mutating func insert() async throws(CacheError) {
    guard let number = job.check.ledger.reserveInsertion(), let version = job.check.ledger.beginWrite(number) else {
      return
    }
    try await write([Claim(number: number, version: version)])
    job.check.ledger.acknowledgeInsertions()
  }

  /// Reads an entry and stores a new value under its key. No other worker writes it meanwhile, so the read must return
  /// exactly the previous version.
  mutating func readModifyWrite() async throws(CacheError) {
    guard let claim = claim() else { return }
    let key = try job.check.keys.key(claim.number)
    let begin = start()
    try await job.check.read(job.engine, key, claim.number, floor: claim.version - 1)
    var batch = WriteBatch()
    try add(claim, to: &batch)
    try await job.engine.apply(batch)
    finish(begin)
    job.check.ledger.endWrite(claim.number, claim.version)
  }

  /// Compacts the store, which must remove expired entries and nothing else.
  mutating func expire() async throws(CacheError) {
    let before = try await job.engine.count().entries
    let begin = start()
    try await job.engine.compact()
    finish(begin, operations: 0)
    operations += max(0, before - (try await job.engine.count().entries))
    job.check.ledger.noteCompaction()
  }

  private mutating func load(_ positions: Range<Int>) async throws(CacheError) {
    let isSequential = job.phase.distribution == .sequential
    let numbers = positions.map { isSequential ? $0 : Int(job.order[UInt64($0)]) }
    if let fetcher = job.fetcher {
      for number in numbers { try await fetch(number, fetcher, isStored: false) }
      return
    }
    try await write(
      numbers.compactMap { number in
        job.check.ledger.beginWrite(number).map { Claim(number: number, version: $0) }
      })
  }

  private mutating func write(_ claims: [Claim]) async throws(CacheError) {
    guard !claims.isEmpty else { return }
    var batch = WriteBatch()
    for claim in claims { try add(claim, to: &batch) }
    let begin = start()
    try await job.engine.apply(batch)
    finish(begin, operations: claims.count)
    for claim in claims { job.check.ledger.endWrite(claim.number, claim.version) }
  }

  /// Chooses an entry to write; if another worker is writing it, takes one of those after it. It tries no more entries
  /// than the workers can hold; if they hold all entries, the result is `nil`.
  private mutating func claim() -> Claim? {
    let ledger = job.check.ledger
    let first = choose()
    let count = ledger.count
    for step in 0..<min(count, job.workers + 1) {
      let number = (first + step) % count
      if let version = ledger.beginWrite(number) { return Claim(number: number, version: version) }
    }
    return nil
  }

  private func add(_ claim: Claim, to batch: inout WriteBatch) throws(CacheError) {
    let check = job.check
    let number = claim.number
    let tag = check.values.tag(number, claim.version)
    let payload = try check.typed?.encode(number) ?? check.values.payload(tag: tag)
    batch.put(try check.keys.key(number), payload: payload, metadata: check.values.metadata(number, tag: tag))
  }
}

/// A thread for one worker of a benchmark: an executor that the worker's task prefers.
///
/// Swift's cooperative pool has as many threads as there are processors, and all tasks share them: eight workers would
/// be two on a small machine, and an engine with a blocking call would hold up the others. `nonisolated(nonsending)`
/// functions run on their caller's executor, and the rest of a call runs on the executor of its task. So everything
/// that an engine does for a worker without leaving its task is done on this thread.
///
/// `@unchecked`: the list of jobs is accessed only with the lock of `monitor` held.
final class WorkerThread: TaskExecutor, @unchecked Sendable {
  private let monitor = Monitor()
  private var jobs: [UnownedJob] = []
  private var isStopped = false

  /// Starts a thread that runs until `stop()`.
  ///
  /// - Throws: `CacheError` with the code `failed` if the system has no more threads.
  init() throws(CacheError) {
    guard SystemThread.startDetached({ self.runJobs() }) else {
      throw CacheError(.failed, "no more threads can be started", hint: "ask for fewer threads")
    }
  }

  /// Runs `job` after all earlier jobs.
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    monitor.withLock {
      jobs.append(job)
      monitor.signal()
    }
  }

  /// Ends the thread once it has no more jobs.
  func stop() {
    monitor.withLock {
      isStopped = true
      monitor.signal()
    }
  }

  private func runJobs() {
    while let jobs = takeJobs() {
      for job in jobs { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
  }

  /// Waits for a job and takes all that are queued; `nil` if the thread should end.
  private func takeJobs() -> [UnownedJob]? {
    monitor.withLock {
      while jobs.isEmpty, !isStopped { monitor.wait() }
      defer { jobs = [] }
      return jobs.isEmpty ? nil : jobs
    }
  }
}
