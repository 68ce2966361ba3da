internal import StorageBenchmark

/// What a benchmark should do, as given on the command line.
struct BenchmarkSettings: Sendable {
  /// What a commit must survive; see `StorageSPI.Durability`.
  enum Durability: String, Sendable, CaseIterable {
    /// A power failure.
    case full
    /// A crash of the process.
    case normal
    /// A crash of the process; a power failure may undo more commits.
    case relaxed
  }

  /// A workload.
  enum Source: Sendable {
    /// A built-in workload.
    case builtIn(String)
    /// The contents of a file.
    case file(name: String, bytes: [UInt8])
  }

  /// The allowed numbers of entries.
  static let entriesRange = 1...100_000_000
  /// The allowed numbers of operations.
  static let operationsRange = 1...1_000_000_000
  /// The allowed sizes of values, in bytes.
  static let valueSizeRange = 0...(64 << 20)
  /// The allowed numbers of threads.
  static let threadsRange = 1...256
  /// The allowed numbers of processes.
  static let processesRange = 1...32
  /// The allowed numbers of rounds.
  static let roundsRange = 1...1_000
  /// The allowed rates, in operations per second.
  static let rateRange = 1e-3...1e9
  /// The size limit of a workload file, in bytes.
  static var maximumWorkloadSize: Int { WorkloadReader.maximumFileSize }
  /// The size limit of a report file, in bytes.
  static let maximumReportSize = 256 << 20

  /// The names of the engines, in the order of their turns; empty for all built-in engines.
  var backends: [String] = []
  /// The workloads, in order; empty for a selection that takes about a minute.
  var workloads: [Source] = []
  /// The numbers of entries to run each workload with, within `entriesRange`; empty to use those of the workloads.
  var entries: [Int] = []
  /// The number of operations, within `operationsRange`; `nil` to use those of the workloads.
  var operations: Int?
  /// The size of values in bytes, within `valueSizeRange`; `nil` to use those of the workloads.
  var valueSize: Int?
  /// The number of threads of each process, within `threadsRange`.
  var threads = 1
  /// The number of processes, within `processesRange`.
  var processes = 1
  /// The number of measured rounds, within `roundsRange`.
  var rounds = 5
  /// The seed of all random choices.
  var seed: UInt64 = 42
  /// How many operations should start per second, within `rateRange`; `nil` for as many as possible.
  var rate: Double?
  /// What a commit must survive, on every engine with such an option.
  var durability = Durability.normal
  /// The name and version of the program for the report.
  var program = "cachectl"
  /// The saved report of an earlier run, for comparison; `nil` for none.
  var saved: (file: String, bytes: [UInt8])?

  /// The defaults.
  init() {}
}
