internal import StorageSPI

/// One of the workers of a phase. It has its own thread, random numbers and histogram, and shares a `PhaseJob` with the
/// others.
struct Worker: Sendable {
  let job: PhaseJob
  var histogram = LatencyHistogram()
  /// The number of operations done; each operation of a batch counts.
  var operations = 0
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
  mutating func run(_ count: Int) async throws(BenchmarkFailure) {
    switch job.phase.kind {
    case .load: try await runLoad()
    case .expire: try await expire()
    case .open: try await repeated(count) { worker throws(BenchmarkFailure) in try await worker.open() }
    case .operations:
      if job.phase.batchSize > 1 { return try await runBatches(count) }
      if job.operations.count == 1, job.operations[0].operation == .read {
        return try await repeated(count) { worker throws(BenchmarkFailure) in try await worker.read() }
      }
      try await repeated(count) { worker throws(BenchmarkFailure) in try await worker.runOne() }
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
    _ count: Int, _ operation: (inout Worker) async throws(BenchmarkFailure) -> Void
  ) async throws(BenchmarkFailure) {
    for _ in 0..<count {
      if Task.isCancelled { throw .cancelled }
      try await operation(&self)
    }
  }

  private mutating func runOne() async throws(BenchmarkFailure) {
    switch nextOperation() {
    case .read: try await read()
    case .update: try await update(1)
    case .insert: try await insert(1)
    case .scan: try await scan()
    case .readModifyWrite: try await readModifyWrite()
    }
  }

  private mutating func nextOperation() -> WorkloadOperation {
    let draw = random.unit()
    for (operation, share) in job.operations where draw < share { return operation }
    return job.operations.last?.operation ?? .read
  }

  private mutating func runBatches(_ count: Int) async throws(BenchmarkFailure) {
    let isInsertion = job.operations.first?.operation == .insert
    var rest = count
    while rest > 0 {
      if Task.isCancelled { throw .cancelled }
      let size = min(rest, job.phase.batchSize)
      if isInsertion { try await insert(size) } else { try await update(size) }
      rest -= size
    }
  }
}
