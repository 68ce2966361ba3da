internal import CacheBase
public import EngineAPI

/// The results of a benchmark: the environment, and a result for each engine, workload, phase and number of entries.
public struct BenchmarkReport: Sendable, Hashable {
  /// The machine and the settings.
  public var environment: BenchmarkEnvironment
  /// The results, ordered by workload, number of entries and phase, then in the order of the engines.
  public var results: [BenchmarkResult]
  /// Whether the run reached its end; a cancelled run has the results of the rounds before.
  public var isComplete: Bool

  /// Whether an engine failed or gave a wrong answer.
  public var hasFailure: Bool { results.contains(where: \.isFailure) }

  /// Merges the reports of several processes of one run: operations add up, and a round takes as long as in the slowest
  /// process. A row that failed in one process failed. `nil` if there are no reports.
  public static func merging(_ reports: [BenchmarkReport]) -> BenchmarkReport? {
    guard var merged = reports.first else { return nil }
    merged.isComplete = reports.allSatisfy(\.isComplete)
    merged.results = merged.results.map { first in
      reports.dropFirst().compactMap { report in report.results.first { $0.row == first.row } }.reduce(first) {
        BenchmarkResult(row: first.row, outcome: $0.outcome.merged(with: $1.outcome))
      }
    }
    return merged
  }
}

extension BenchmarkResult.Outcome {
  fileprivate func merged(with other: BenchmarkResult.Outcome) -> BenchmarkResult.Outcome {
    switch (self, other) {
    case (.measured(let own), .measured(let others)): .measured(own.merged(with: others))
    case (.wrong, _), (_, .skipped): self
    case (_, .wrong), (.skipped, _): other
    case (.failed, _): self
    case (_, .failed): other
    }
  }
}

extension BenchmarkMeasurement {
  fileprivate func merged(with other: BenchmarkMeasurement) -> BenchmarkMeasurement {
    var histogram = histogram
    if let others = other.histogram { histogram?.merge(others) } else { histogram = nil }
    return BenchmarkMeasurement(
      rounds: zip(rounds, other.rounds).map { $0.merged(with: $1) },
      latency: histogram.map(LatencySummary.init) ?? latency, histogram: histogram)
  }
}

extension BenchmarkMeasurement.Round {
  fileprivate func merged(with other: Self) -> Self {
    let peaks = [peakMemoryBytes, other.peakMemoryBytes].compactMap(\.self)
    return Self(
      operations: operations + other.operations, seconds: max(seconds, other.seconds),
      processorSeconds: processorSeconds + other.processorSeconds,
      peakMemoryBytes: peaks.isEmpty ? nil : peaks.reduce(0, +), storageBytes: max(storageBytes, other.storageBytes),
      referenceSeconds: referenceSeconds.flatMap { own in other.referenceSeconds.map { max(own, $0) } },
      hits: hits.flatMap { own in other.hits.map { own + $0 } })
  }
}

/// The result of one phase of a workload over one engine, with a given number of entries.
public struct BenchmarkResult: Sendable, Hashable {
  /// How a phase ended.
  public enum Outcome: Sendable, Hashable {
    /// Every answer was correct, at this cost.
    case measured(BenchmarkMeasurement)
    /// The engine gave this impossible answer, so its speed does not count.
    case wrong(String)
    /// The engine failed, with this error.
    case failed(String)
    /// The engine cannot run the workload, for this reason.
    case skipped(String)

    /// Drops what takes the most room in a file.
    mutating func removeHistogram() {
      guard case .measured(var measurement) = self else { return }
      measurement.histogram = nil
      self = .measured(measurement)
    }

    /// The outcome in a word: "measured", "wrong", "failed" or "skipped".
    public var name: String {
      switch self {
      case .measured: "measured"
      case .wrong: "wrong"
      case .failed: "failed"
      case .skipped: "skipped"
      }
    }

    /// Why there are no figures, in one line; `nil` if there are.
    public var reason: String? {
      switch self {
      case .measured: nil
      case .wrong(let reason), .failed(let reason), .skipped(let reason): reason
      }
    }
  }

  /// The identity of a row in a report.
  public struct Row: Sendable, Hashable {
    /// The engine.
    public internal(set) var backend: String
    /// The workload.
    public internal(set) var workload: String
    /// The phase of the workload.
    public internal(set) var phase: String
    /// The number of entries that the load stores.
    public internal(set) var entries: Int

    /// The workload and the phase in one: "ycsb-b run", or just "read" if the phase has the workload's name.
    public var title: String { phase == workload ? workload : "\(workload) \(phase)" }
  }

  /// The row of the report.
  public internal(set) var row: Row
  /// How it ended.
  public internal(set) var outcome: Outcome

  /// What it cost; `nil` if it was not measured.
  public var measurement: BenchmarkMeasurement? {
    if case .measured(let measurement) = outcome { measurement } else { nil }
  }

  /// Whether the engine failed or gave a wrong answer.
  public var isFailure: Bool {
    switch outcome {
    case .measured, .skipped: false
    case .wrong, .failed: true
    }
  }
}

/// The cost of a phase over all its rounds.
public struct BenchmarkMeasurement: Sendable, Hashable {
  /// The cost of one round of the phase.
  public struct Round: Sendable, Hashable {
    /// The number of operations; each operation of a batch counts.
    public var operations = 0
    /// How long it took, from the start of the first operation to the end of the last.
    public var seconds = 0.0
    /// The processor time of the whole process meanwhile, including the harness and the checks.
    public var processorSeconds = 0.0
    /// The peak of the resident memory, less what was resident before the store was opened, in bytes; `nil` if the
    /// system does not tell. Pages of a mapped file count, although the kernel can reclaim them.
    public var peakMemoryBytes: Int?
    /// The size of the store according to the engine, in bytes.
    public var storageBytes = 0
    /// How long the reference work took right before; `nil` in reports of programs that did none.
    public var referenceSeconds: Double?
    /// How many operations the store answered; `nil` unless the store was bounded.
    public var hits: Int?

    /// The throughput; 0 if no time passed.
    public var operationsPerSecond: Double { seconds > 0 ? Double(operations) / seconds : 0 }
  }

  /// The rounds, in the order in which they ran; at least one.
  public internal(set) var rounds: [Round] = []
  /// The latencies of all rounds.
  public internal(set) var latency = LatencySummary(LatencyHistogram())
  /// The full latencies of all rounds; `nil` if the report was read from a file without them.
  public internal(set) var histogram: LatencyHistogram?

  /// The number of operations over all rounds.
  public var operations: Int { rounds.reduce(0) { $0 + $1.operations } }
  /// The average number of operations in one timed call of the engine, rounded: 1, the size of a batch, or the number
  /// of entries that a compaction removed.
  public var operationsPerCall: Int {
    latency.count > 0 ? max(1, Int((Double(operations) / Double(latency.count)).rounded())) : 1
  }
  /// The share of operations that the store answered, from 0 to 1; `nil` unless the store was bounded.
  public var hitRatio: Double? {
    let hits = rounds.compactMap(\.hits)
    return hits.isEmpty || operations == 0 ? nil : Double(hits.reduce(0, +)) / Double(operations)
  }
  /// The time of all rounds.
  public var seconds: Double { rounds.reduce(0) { $0 + $1.seconds } }
  /// The processor time of all rounds.
  public var processorSeconds: Double { rounds.reduce(0) { $0 + $1.processorSeconds } }
  /// The highest peak of all rounds.
  public var peakMemoryBytes: Int? { rounds.compactMap(\.peakMemoryBytes).max() }
  /// The size of the store after the last round.
  public var storageBytes: Int { rounds.last?.storageBytes ?? 0 }
  /// The throughput over the rounds; `nil` if there is none.
  public var throughput: Spread? { Spread(rounds.map(\.operationsPerSecond)) }
  /// The times of the reference work over the rounds; `nil` if a round has none.
  public var reference: Spread? {
    let seconds = rounds.compactMap(\.referenceSeconds)
    return seconds.count == rounds.count ? Spread(seconds) : nil
  }
}

/// The machine and the settings of a benchmark: without them its figures mean nothing.
public struct BenchmarkEnvironment: Sendable, Hashable {
  /// An engine and its version.
  public struct Engine: Sendable, Hashable {
    /// The engine's name.
    public internal(set) var name: String
    /// The version of the engine, or of the library under it.
    public internal(set) var version: String
    /// Whether the engine has an option for durability.
    public internal(set) var hasDurability: Bool
  }

  /// When the benchmark ran.
  public var date = Timestamp(milliseconds: 0)
  /// The machine.
  public var machine = BenchmarkMachine()
  /// The engines, in the order of their turns.
  public var engines: [Engine] = []
  /// What a commit must survive.
  public var durability = Durability.normal
  /// The seed of all random choices.
  public var seed: UInt64 = 0
  /// The number of threads of each process.
  public var threads = 0
  /// The number of processes.
  public var processes = 0
  /// The number of measured rounds.
  public var rounds = 0
  /// The number of rounds before the measured ones.
  public var warmUpRounds = 0
  /// How many operations should start per second; `nil` for as many as possible.
  public var targetRate: Double?
  /// Further facts by name, such as the version of the program.
  public var facts: [String: String] = [:]
}

extension BenchmarkEnvironment {
  /// The environment of a run.
  public init(
    _ options: BenchmarkOptions, _ subjects: [BenchmarkSubject], machine: BenchmarkMachine,
    facts: [String: String] = [:]
  ) {
    let engines = subjects.map { subject in
      let declaration = subject.plugin.declaration
      let hasDurability = declaration.options.contains { $0.name == EngineOption.durability.name }
      return Engine(name: declaration.name, version: declaration.version, hasDurability: hasDurability)
    }
    self.init(
      date: options.date, machine: machine, engines: engines, durability: options.durability, seed: options.seed,
      threads: options.threads, processes: options.share?.count ?? 1, rounds: options.rounds,
      warmUpRounds: options.warmUpRounds, targetRate: options.targetRate, facts: facts)
  }
}

/// The machine that ran a benchmark. Unknown facts are empty or 0.
public struct BenchmarkMachine: Sendable, Hashable {
  /// The model of the processor.
  public var processor = ""
  /// The number of processors that the process may use.
  public var processors = 0
  /// The size of the memory, in bytes.
  public var memoryBytes = 0
  /// The kernel's name, its release and its processor type.
  public var kernel = ""
  /// The type of the stores' file system, such as "ext4".
  public var fileSystem = ""

  /// An unknown machine.
  public init() {}

  /// This machine, with stores in the folder at the absolute path `folder`.
  public static func current(folder: String) -> BenchmarkMachine {
    var machine = BenchmarkMachine()
    machine.processor = value(of: "model name", in: SystemFile.lines("/proc/cpuinfo"))
    machine.processors = sysconf(Int32(_SC_NPROCESSORS_ONLN))
    machine.memoryBytes = sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE))
    machine.kernel = kernelName()
    machine.fileSystem = fileSystem(of: folder, SystemFile.lines("/proc/self/mounts"))
    return machine
  }

  /// The text after the colon in the first of `lines` that begins with `name`.
  static func value(of name: String, in lines: [Substring]) -> String {
    guard let line = lines.first(where: { $0.hasPrefix(name) }), let colon = line.firstIndex(of: ":") else { return "" }
    return String(line[line.index(after: colon)...].drop { $0 == " " })
  }

  /// The type of the file system with the longest mount path that leads to `folder`; of several on one path, the last.
  /// A line of `mounts` is "device path type ...".
  static func fileSystem(of folder: String, _ mounts: [Substring]) -> String {
    var best = (path: Substring(), type: Substring())
    for line in mounts {
      let fields = line.split(separator: " ")
      guard fields.count > 2, leads(fields[1], to: folder), fields[1].count >= best.path.count else { continue }
      best = (fields[1], fields[2])
    }
    return String(best.type)
  }

  private static func leads(_ path: Substring, to folder: String) -> Bool {
    path == "/" || folder == path || folder.hasPrefix(path + "/")
  }

  private static func kernelName() -> String {
    var name = utsname()
    guard uname(&name) == 0 else { return "" }
    return [text(name.sysname), text(name.release), text(name.machine)].joined(separator: " ")
  }

  /// The text in a field of `utsname`, an array that ends with a zero byte.
  private static func text<Field>(_ field: Field) -> String {
    withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }
}
