public import EngineAPI

/// How to run a benchmark, for any workload.
public struct BenchmarkOptions: Sendable {
  /// The allowed numbers of threads.
  public static let threadsRange = 1...256

  /// The allowed numbers of measured rounds.
  public static let roundsRange = 1...1_000

  /// The allowed rates, in operations per second.
  public static let targetRateRange = 1e-3...1e9

  /// Called before each phase of each round with a name that is the same in every process of a run. It returns when all
  /// processes have called it, so that processes sharing a store begin a phase together.
  public typealias Rendezvous = @Sendable (String) async throws(CacheError) -> Void

  /// The absolute path of a folder for the stores, for this benchmark alone. The caller removes it.
  public var scratchFolder = ""
  /// The prefix of store names on servers, unique to this run: lower-case letters, digits and hyphens, first a letter,
  /// at most 48.
  public var runName = ""
  /// The date of the run, which is also the current time for expiry.
  public var date = Timestamp(milliseconds: 0)
  /// The numbers of entries to run each workload with, one after the other; empty to use the workload's.
  public var entries: [Int] = []
  /// The number of operations; `nil` to use the workload's.
  public var operations: Int?
  /// The size of values in bytes; `nil` to use the workload's.
  public var valueSize: Int?
  /// The number of workers, each on its own thread, within `threadsRange`.
  public var threads = 1
  /// The number of measured rounds. Fewer than five say little about the spread.
  public var rounds = 5
  /// The number of rounds before those, which are not measured.
  public var warmUpRounds = 1
  /// The seed of all random choices. Every engine gets the same operations in the same order.
  public var seed: UInt64 = 42
  /// What a commit must survive, on every engine with such an option.
  public var durability = Durability.normal
  /// How many operations all workers together should start per second; `nil` for as many as possible. Applies to
  /// measured phases.
  public var targetRate: Double?
  /// The share of this process in the run; `nil` for all of it.
  public var share: BenchmarkShare?
  /// How the processes wait for each other; `nil` if they need not.
  public var rendezvous: Rendezvous?

  /// The defaults, without a place for the stores.
  public init() {}

  /// The maximum number of stores for one number of entries.
  func storeCount(of workload: Workload, _ subjectCount: Int) -> Int {
    (rounds + warmUpRounds) * subjectCount * workload.phases.count
  }

  /// `workload`, changed by these options, with `entries` entries.
  func applied(to workload: Workload, entries: Int) -> Workload {
    var workload = workload
    workload.entries = entries
    if let operations { workload.operations = operations }
    if let valueSize, workload.payload.hasSizes { workload.valueSize = valueSize }
    return workload
  }

  /// - Throws: `CacheError` with the code `invalidOption` if a value is out of its range.
  func validate() throws(CacheError) {
    try require(Self.threadsRange.contains(threads), "threads", "\(Self.threadsRange.upperBound) threads at most")
    try require(Self.roundsRange.contains(rounds) && warmUpRounds >= 0, "rounds", "1 to 1000 rounds")
    try require(entries.allSatisfy(Workload.entriesRange.contains), "entries", "1 to 100000000 entries")
    try require(operations.map(Workload.operationsRange.contains) ?? true, "operations", "1 to 1000000000 operations")
    try require(targetRate.map(Self.targetRateRange.contains) ?? true, "target rate", "a positive number")
    try require(
      valueSize.map(Workload.valueSizeRange.contains) ?? true, "value size",
      "sizes of 0 to 67108864 bytes")
    try require(EngineOption.isStoreName(runName) && runName.utf8.count <= 48, "run name", "letters and digits")
  }

  private func require(_ isValid: Bool, _ name: String, _ allowed: String) throws(CacheError) {
    guard !isValid else { return }
    throw CacheError(.invalidOption, "the \(name) of the benchmark cannot be that", hint: "ask for \(allowed)")
  }
}

/// One process's share in a run by several processes on one store.
///
/// For a run by N processes, start the same run N times, each with its share, the same scratch folder and the same
/// `BenchmarkOptions.runName`, and merge the reports (`BenchmarkReport.merging(_:)`), which travel as JSON with
/// histograms (`BenchmarkReport.json(includingHistograms:)`). Each process has its own entries, as many as the workload
/// says, in the common store, and checks those. So it can check every answer without asking the other processes. Only
/// `shared` engines can do this; others are skipped. The caller that started the processes removes the scratch folder:
/// a process that is done must not remove the store of the others.
public struct BenchmarkShare: Sendable, Hashable {
  /// The allowed numbers of processes.
  public static let countRange = 1...32

  /// The number of this process, from 0.
  public let index: Int
  /// The number of processes, within `countRange`.
  public let count: Int

  /// The share number `index` of `count`; both are clamped to their ranges.
  public init(index: Int, count: Int) {
    self.count = min(max(count, Self.countRange.lowerBound), Self.countRange.upperBound)
    self.index = min(max(index, 0), self.count - 1)
  }
}
