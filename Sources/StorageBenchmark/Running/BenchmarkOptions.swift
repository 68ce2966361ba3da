public import StorageSPI

/// How a benchmark is run, whatever the workload.
public struct BenchmarkOptions: Sendable {
  /// How many threads there may be.
  public static let threadsRange = 1...256

  /// Called before each phase of each round with a name that is the same in every process of a run, so that processes
  /// which share a store can begin a phase together. It returns when all are there.
  public typealias Rendezvous = @Sendable (String) async throws(StorageError) -> Void

  /// The absolute path of a folder for the stores, which is the benchmark's alone. Whoever passes it in removes it.
  public var scratchFolder: String
  /// What the names of stores on servers begin with, which no other run has: lower-case letters, digits and hyphens, the
  /// first a letter, at most 48.
  public var runName: String
  /// The date of the run, which is also the time by which entries expire.
  public var date: Timestamp
  /// The numbers of entries to run each workload with, one after the other; empty for that of the workload.
  public var entries: [Int] = []
  /// The number of operations; `nil` for that of the workload.
  public var operations: Int?
  /// The sizes of values in bytes; `nil` for those of the workload.
  public var valueSize: SizeDistribution?
  /// The number of workers, each with a thread of its own, within `threadsRange`.
  public var threads = 1
  /// How many rounds are measured. Fewer than five say little of the spread.
  public var rounds = 5
  /// How many rounds are run before those, and not measured.
  public var warmUpRounds = 1
  /// What all random choices depend on. Every engine gets the same operations in the same order.
  public var seed: UInt64 = 42
  /// What a commit survives, on every engine that can be told.
  public var durability = Durability.normal
  /// How many operations are to start each second, by all workers together; `nil` for as many as can. It applies to
  /// phases that are measured.
  public var targetRate: Double?
  /// Which part of the run this process does; `nil` for all of it.
  public var share: BenchmarkShare?
  /// How processes wait for each other; `nil` if they need not.
  public var rendezvous: Rendezvous?

  /// The defaults, for stores in `scratchFolder`.
  public init(scratchFolder: String, runName: String, date: Timestamp) {
    (self.scratchFolder, self.runName, self.date) = (scratchFolder, runName, date)
  }

  /// How many stores are made at most to run `workloads` over `subjectCount` engines.
  public func storeCount(_ workloads: [Workload], subjectCount: Int) -> Int {
    workloads.reduce(0) { $0 + storeCount(of: $1, subjectCount) * max(entries.count, 1) }
  }

  /// How many of them for one number of entries.
  func storeCount(of workload: Workload, _ subjectCount: Int) -> Int {
    (rounds + warmUpRounds) * subjectCount * workload.phases.count
  }

  /// `workload` as it is run with `entries` entries.
  func applied(to workload: Workload, entries: Int) -> Workload {
    var workload = workload
    workload.entries = entries
    if let operations { workload.operations = operations }
    if let valueSize, workload.payload == .bytes { workload.valueSize = valueSize }
    return workload
  }

  /// - Throws: `StorageError` with the code `invalidOption` if a value is out of its range.
  func validate() throws(StorageError) {
    try require(Self.threadsRange.contains(threads), "threads", "\(Self.threadsRange.upperBound) threads at most")
    try require(rounds >= 1 && warmUpRounds >= 0, "rounds", "at least one round")
    try require(entries.allSatisfy(Workload.entriesRange.contains), "entries", "1 to 100000000 entries")
    try require(operations.map(Workload.operationsRange.contains) ?? true, "operations", "1 to 1000000000 operations")
    try require(targetRate.map { $0 > 0 && $0 <= 1e9 } ?? true, "target rate", "a positive number")
    try require(valueSize.map(isSize) ?? true, "value size", "sizes of 0 to 67108864 bytes")
    try require(EngineOption.isStoreName(runName) && runName.utf8.count <= 48, "run name", "letters and digits")
  }

  private func isSize(_ sizes: SizeDistribution) -> Bool {
    Workload.valueSizeRange.contains(sizes.minimum) && Workload.valueSizeRange.contains(sizes.maximum)
  }

  private func require(_ isValid: Bool, _ name: String, _ allowed: String) throws(StorageError) {
    guard !isValid else { return }
    throw StorageError(.invalidOption, "the \(name) of the benchmark cannot be that", hint: "ask for \(allowed)")
  }
}
