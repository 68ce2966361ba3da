internal import StorageBenchmark

/// What a benchmark should do, as given on the command line.
public struct BenchmarkSettings: Sendable {
  /// What a commit must survive; see `StorageSPI.Durability`.
  public enum Durability: String, Sendable, CaseIterable {
    /// A power failure.
    case full
    /// A crash of the process.
    case normal
    /// A crash of the process; a power failure may undo more commits.
    case relaxed
  }

  /// A workload.
  public enum Source: Sendable {
    /// A built-in workload.
    case builtIn(String)
    /// The contents of a file.
    case file(name: String, bytes: [UInt8])
  }

  /// The allowed numbers of entries.
  public static let entriesRange = 1...100_000_000
  /// The allowed numbers of operations.
  public static let operationsRange = 1...1_000_000_000
  /// The allowed sizes of values, in bytes.
  public static let valueSizeRange = 0...(64 << 20)
  /// The allowed numbers of threads.
  public static let threadsRange = 1...256
  /// The allowed numbers of processes.
  public static let processesRange = 1...32
  /// The allowed numbers of rounds.
  public static let roundsRange = 1...1_000
  /// The allowed rates, in operations per second.
  public static let rateRange = 1e-3...1e9
  /// The size limit of a workload file, in bytes.
  public static var maximumWorkloadSize: Int { WorkloadReader.maximumFileSize }
  /// The size limit of a report file, in bytes.
  public static let maximumReportSize = 256 << 20

  /// The names of the engines, in the order of their turns; empty for all built-in engines.
  public var backends: [String] = []
  /// The workloads, in order; empty for a selection that takes about a minute.
  public var workloads: [Source] = []
  /// The numbers of entries to run each workload with, within `entriesRange`; empty to use those of the workloads.
  public var entries: [Int] = []
  /// The number of operations, within `operationsRange`; `nil` to use those of the workloads.
  public var operations: Int?
  /// The size of values in bytes, within `valueSizeRange`; `nil` to use those of the workloads.
  public var valueSize: Int?
  /// The number of threads of each process, within `threadsRange`.
  public var threads = 1
  /// The number of processes, within `processesRange`.
  public var processes = 1
  /// The number of measured rounds, within `roundsRange`.
  public var rounds = 5
  /// The seed of all random choices.
  public var seed: UInt64 = 42
  /// How many operations should start per second, within `rateRange`; `nil` for as many as possible.
  public var rate: Double?
  /// What a commit must survive, on every engine with such an option.
  public var durability = Durability.normal
  /// The name and version of the program for the report.
  public var program = "cachectl"
  /// The saved report of an earlier run, for comparison; `nil` for none.
  public var saved: (file: String, bytes: [UInt8])?

  /// The defaults.
  public init() {}
}
