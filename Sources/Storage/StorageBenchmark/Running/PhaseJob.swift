internal import StorageSPI
internal import Synchronization

/// What all workers of a phase share.
final class PhaseJob: Sendable {
  let phase: WorkloadPhase
  let store: RoundStore
  let engine: any StorageEngine
  let fetcher: (any BenchmarkFetcher)?
  let check: EntryCheck
  let probe: BenchmarkProbe
  /// The number of entries that a load stores.
  let entries: Int
  /// How many numbers a distribution covers; see `KeyChooser`.
  let expected: Int
  let workers: Int
  /// Nanoseconds between the intended starts of two calls of one worker; `nil` without a target rate.
  let interval: Double?
  let operations: [(operation: WorkloadOperation, share: Double)]
  let scanLengths: SizeChooser
  let order: NumberPermutation

  private let cursor = Atomic<Int>(0)

  init(_ round: BenchmarkRound, _ phase: WorkloadPhase, engine: any StorageEngine, check: EntryCheck) {
    self.phase = phase
    self.engine = engine
    self.check = check
    store = round.store
    fetcher = round.fetcher
    probe = round.context.probe
    entries = round.workload.entries
    workers = phase.kind == .open || phase.kind == .expire ? 1 : round.context.options.threads
    let inserted = Double(round.workload.operations(of: phase)) * phase.share(of: .insert)
    expected = entries + Int(inserted * 2)
    let operationsAtOnce = Double(workers) * Double(phase.batchSize)
    interval = phase.isMeasured ? round.context.options.targetRate.map { 1e9 * operationsAtOnce / $0 } : nil
    operations = phase.cumulativeShares
    scanLengths = SizeChooser(phase.scanLength)
    order = NumberPermutation(count: UInt64(round.workload.entries), seed: round.context.options.seed)
  }

  /// The numbers of the next entries to load, at most `phase.batchSize`; empty if all are taken.
  func takeEntries() -> Range<Int> {
    let start = min(cursor.wrappingAdd(phase.batchSize, ordering: .relaxed).oldValue, entries)
    return start..<min(start + phase.batchSize, entries)
  }
}
