internal import CacheBase
internal import EngineAPI

/// One of the workers of a phase. It has its own thread, random numbers and latencies, and shares a `PhaseRun` with the
/// others.
struct Worker: Sendable {
  /// An entry that only this worker is writing.
  private struct Claim {
    let number: Int
    let version: UInt32
  }

  private let job: PhaseRun
  private let readCached: BenchmarkActions.Read?
  private var random: SeededGenerator
  private(set) var latencies = LatencyHistogram()
  /// The number of operations done; each operation of a batch counts.
  private(set) var operations = 0
  /// The number of reads that the store served.
  private(set) var hits = 0
  /// When the worker started.
  let began: UInt64
  /// When its last operation ended.
  private(set) var ended: UInt64

  init(_ job: PhaseRun, index: Int, seed: UInt64) {
    self.job = job
    readCached = job.store.readCached
    random = SeededGenerator(seed: seed, path: index)
    began = job.probe.now()
    ended = began
  }

  /// Does `count` operations of the phase, or everything that is left of a load.
  mutating func run(_ count: Int) async throws(CacheError) {
    switch job.phase.kind {
    case .load: try await load()
    case .read(let updates) where updates > 0:
      try await repeated(count) { worker throws(CacheError) in
        if worker.random.unit() < 1 - updates { try await worker.read() } else { try await worker.update() }
      }
    case .read: try await repeated(count) { worker throws(CacheError) in try await worker.read() }
    case .scan: try await repeated(count) { worker throws(CacheError) in try await worker.scan() }
    case .open: try await repeated(count) { worker throws(CacheError) in try await worker.open() }
    }
  }

  private mutating func repeated(
    _ count: Int, _ operation: (inout Worker) async throws(CacheError) -> Void
  ) async throws(CacheError) {
    for _ in 0..<count {
      if Task.isCancelled { throw .cancelled }
      try await operation(&self)
    }
  }

  /// Records an operation, or a batch of `count`, that has just ended.
  @inline(__always)
  private mutating func finish(_ start: UInt64, operations count: Int = 1) {
    ended = job.probe.now()
    latencies.record(ended > start ? ended - start : 0)
    operations += count
  }

  /// Reads an entry, and checks it.
  @inline(__always)
  private mutating func read() async throws(CacheError) {
    let number = job.chooser.next(&random)
    if let readCached { return try await read(number, through: readCached, isStored: true) }
    let floor = job.check.ledger.committed(number)
    let key = try job.check.keys.key(number)
    let begin = job.probe.now()
    try await job.check.read(job.engine, key, number, floor: floor)
    finish(begin)
  }

  private mutating func read(
    _ number: Int, through read: BenchmarkActions.Read, isStored: Bool
  ) async throws(CacheError) {
    let begin = job.probe.now()
    let answer = try await read(number, isStored)
    finish(begin)
    if answer == .hit { hits += 1 }
    guard answer != .wrong else { throw .wrongAnswer("entry number \(number) came back with other bytes") }
  }

  /// Opens the store, reads an entry, and closes the store.
  private mutating func open() async throws(CacheError) {
    let number = job.chooser.next(&random)
    let floor = job.check.ledger.committed(number)
    let key = try job.check.keys.key(number)
    let begin = job.probe.now()
    let engine = try await job.store.plugin.open(job.store.configuration)
    do { try await job.check.read(engine, key, number, floor: floor) } catch {
      try? await engine.close()
      throw error
    }
    try await engine.close()
    finish(begin)
  }

  /// Lists entries from a chosen one on, and checks that none is missing.
  private mutating func scan() async throws(CacheError) {
    let first = job.chooser.next(&random)
    let limit = WorkloadPhase.scanLength
    let position = first + job.check.keys.base > 0 ? try job.check.keys.key(first - 1).text : nil
    var request = ScanRequest(prefix: KeySpace.prefix, after: position, limit: limit)
    let begin = job.probe.now()
    var page = try await job.engine.scan(request)
    var entries = page.entries
    while let next = page.next, entries.count < limit {
      request.position = next
      request.limit = limit - entries.count
      page = try await job.engine.scan(request)
      entries += page.entries
    }
    finish(begin)
    if let fault = try job.check.fault(entries, from: first, limit: limit) { throw fault }
  }

  /// Stores this worker's part of all entries.
  private mutating func load() async throws(CacheError) {
    while case let numbers = job.takeEntries(), !numbers.isEmpty {
      if Task.isCancelled { throw .cancelled }
      if let readCached {
        for number in numbers { try await read(number, through: readCached, isStored: false) }
      } else {
        try await write(
          numbers.compactMap { number in
            job.check.ledger.beginWrite(number).map { Claim(number: number, version: $0) }
          })
      }
    }
  }

  /// Stores a new value under the key of a chosen entry; if another worker is writing it, takes one of those after it. It
  /// tries no more entries than the workers can hold.
  private mutating func update() async throws(CacheError) {
    let ledger = job.check.ledger
    let first = job.chooser.next(&random)
    for step in 0..<min(ledger.count, job.workers + 1) {
      let number = (first + step) % ledger.count
      if let version = ledger.beginWrite(number) { return try await write([Claim(number: number, version: version)]) }
    }
  }

  private mutating func write(_ claims: [Claim]) async throws(CacheError) {
    let check = job.check
    var batch = WriteBatch()
    for claim in claims {
      let tag = check.values.tag(claim.number, claim.version)
      let payload = try check.typed?.encode(claim.number) ?? check.values.payload(tag: tag)
      batch.put(try check.keys.key(claim.number), payload: payload, metadata: check.values.metadata(tag: tag))
    }
    let begin = job.probe.now()
    try await job.engine.apply(batch)
    finish(begin, operations: claims.count)
    for claim in claims { check.ledger.endWrite(claim.number, claim.version) }
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
