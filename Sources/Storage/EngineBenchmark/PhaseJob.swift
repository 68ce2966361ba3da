internal import CacheBase
internal import EngineAPI
internal import Synchronization

/// The cost of one phase in one round.
struct PhaseCost: Sendable {
  var round: BenchmarkMeasurement.Round
  var histogram = LatencyHistogram()
}

/// One phase in one round, and what all its workers share.
final class PhaseJob: Sendable {
  let phase: WorkloadPhase
  let store: RoundStore
  let engine: any StorageEngine
  let fetcher: (any BenchmarkFetcher)?
  let check: EntryCheck
  let probe: BenchmarkProbe
  /// Whether the number of hits says something: the store is bounded, and read.
  let countsHits: Bool
  /// The number of operations of all workers together.
  let operationCount: Int
  /// The number of entries that a load stores.
  let entries: Int
  /// How many numbers a distribution covers; see `KeyChooser`.
  let expected: Int
  let workers: Int
  /// Nanoseconds between the intended starts of two calls of one worker; `nil` without a target rate.
  let interval: Double?
  let operations: [(operation: WorkloadOperation, share: Double)]
  let order: NumberPermutation

  private let cursor = Atomic<Int>(0)

  init(_ round: BenchmarkRound, _ phase: WorkloadPhase, engine: any StorageEngine, check: EntryCheck) {
    self.phase = phase
    self.engine = engine
    self.check = check
    store = round.store
    fetcher = round.fetcher
    probe = round.context.probe
    countsHits = round.workload.payload == .bounded && phase.kind != .load
    entries = round.workload.entries
    workers = phase.kind == .open || phase.kind == .expire ? 1 : round.context.options.threads
    operationCount = round.workload.operations(of: phase)
    expected = entries + Int(Double(operationCount) * phase.share(of: .insert) * 2)
    let operationsAtOnce = Double(workers) * Double(phase.batchSize)
    interval = phase.isMeasured ? round.context.options.targetRate.map { 1e9 * operationsAtOnce / $0 } : nil
    operations = phase.cumulativeShares
    order = NumberPermutation(count: UInt64(round.workload.entries), seed: round.context.options.seed)
  }

  /// The numbers of the next entries to load, at most `phase.batchSize`; empty if all are taken.
  func takeEntries() -> Range<Int> {
    let start = min(cursor.wrappingAdd(phase.batchSize, ordering: .relaxed).oldValue, entries)
    return start..<min(start + phase.batchSize, entries)
  }
}

extension PhaseJob {
  /// Runs the phase with all its workers, each on its own thread.
  ///
  /// - Parameters:
  ///   - seed: decides all random numbers.
  ///   - resident: the resident memory of the process before the store was opened, in bytes.
  /// - Throws: the first failure, after all other workers have ended.
  func run(on threads: [WorkerThread], seed: UInt64, resident: Int?) async throws(CacheError) -> PhaseCost {
    let canTellPeak = probe.resetPeakMemory()
    let processor = probe.processorNanoseconds()
    let workers = try await runWorkers(on: threads, seed)
    let processorSeconds = Double(probe.processorNanoseconds() - processor) / 1e9
    let peak = canTellPeak ? probe.peakMemoryBytes() : nil
    let begin = workers.map(\.began).min() ?? 0
    let end = workers.map(\.ended).max() ?? begin
    var cost = PhaseCost(
      round: BenchmarkMeasurement.Round(
        operations: workers.reduce(0) { $0 + $1.operations }, seconds: Double(end - begin) / 1e9,
        processorSeconds: processorSeconds,
        peakMemoryBytes: resident.flatMap { resident in peak.map { max(0, $0 - resident) } },
        hits: countsHits ? workers.reduce(0) { $0 + $1.hits } : nil))
    for worker in workers { cost.histogram.merge(worker.histogram) }
    return cost
  }

  private func runWorkers(on threads: [WorkerThread], _ seed: UInt64) async throws(CacheError) -> [Worker] {
    try await withTaskGroup(of: Result<Worker, CacheError>.self) { group -> Result<[Worker], CacheError> in
      for index in 0..<workers {
        group.addTask(executorPreference: threads[index]) { await self.runWorker(index, seed) }
      }
      var (ended, failure): ([Worker], CacheError?) = ([], nil)
      for await result in group {
        switch result {
        case .success(let worker): ended.append(worker)
        case .failure(let error):
          // Those after the first may only have been cancelled.
          failure = failure ?? error
          group.cancelAll()
        }
      }
      return failure.map { .failure($0) } ?? .success(ended)
    }.get()
  }

  private func runWorker(_ index: Int, _ seed: UInt64) async -> Result<Worker, CacheError> {
    var worker = Worker(self, index: index, seed: seed)
    let count = operationCount / workers + (index < operationCount % workers ? 1 : 0)
    do { try await worker.run(count) } catch { return .failure(error) }
    return .success(worker)
  }
}

/// When operations should start. Without a target rate that is now. With one it is the next point of a fixed grid,
/// however late the operations before it were, so that waiting for them counts (see `LatencyHistogram`).
struct Schedule: Sendable {
  /// How long a wait lasts before it checks for cancellation, in nanoseconds.
  private static let slice: UInt64 = 50_000_000

  private let start: UInt64
  private let interval: Double?
  private var count = 0.0

  init(start: UInt64, interval: Double?) { (self.start, self.interval) = (start, interval) }

  /// Whether there is a target rate.
  var isPaced: Bool { interval != nil }

  /// Waits for the intended start of the next operation, and returns it.
  mutating func start(_ probe: BenchmarkProbe) -> UInt64 {
    guard let interval else { return probe.now() }
    let intended = start + UInt64(interval * count)
    count += 1
    while true {
      let now = probe.now()
      guard now < intended, !Task.isCancelled else { return intended }
      probe.waitUntil(min(intended, now + Self.slice))
    }
  }
}
