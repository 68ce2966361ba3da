internal import StorageBenchmark

/// What a benchmark is to do, as a command line says it.
public struct BenchmarkSettings: Sendable {
  /// What a commit survives; see `StorageSPI.Durability`.
  public enum Durability: String, Sendable, CaseIterable {
    /// Loss of power.
    case full
    /// A crash of the process.
    case normal
    /// A crash of the process, but loss of power may undo more.
    case relaxed
  }

  /// A workload.
  public enum Source: Sendable {
    /// One that is built in.
    case builtIn(String)
    /// The contents of a file.
    case file(name: String, bytes: [UInt8])
  }

  /// How many entries there may be.
  public static let entriesRange = 1...100_000_000
  /// How many operations there may be.
  public static let operationsRange = 1...1_000_000_000
  /// How large values may be, in bytes.
  public static let valueSizeRange = 0...(64 << 20)
  /// How many threads there may be.
  public static let threadsRange = 1...256
  /// How many processes there may be.
  public static let processesRange = 1...32
  /// How many rounds there may be.
  public static let roundsRange = 1...1_000
  /// How many operations a second may be asked for.
  public static let rateRange = 1e-3...1e9
  /// The size of the largest file with a workload, in bytes.
  public static var maximumWorkloadSize: Int { WorkloadReader.maximumFileSize }
  /// The size of the largest file with a report, in bytes.
  public static let maximumReportSize = 256 << 20

  /// The names of the engines, in the order of their turns; empty for all that are built in.
  public var backends: [String] = []
  /// The workloads, in order; empty for a selection that takes about a minute.
  public var workloads: [Source] = []
  /// The numbers of entries to run each workload with, within `entriesRange`; empty for those of the workloads.
  public var entries: [Int] = []
  /// The number of operations, within `operationsRange`; `nil` for those of the workloads.
  public var operations: Int?
  /// The size of values in bytes, within `valueSizeRange`; `nil` for those of the workloads.
  public var valueSize: Int?
  /// The number of threads of each process, within `threadsRange`.
  public var threads = 1
  /// The number of processes, within `processesRange`.
  public var processes = 1
  /// The number of rounds that are measured, within `roundsRange`.
  public var rounds = 5
  /// What all random choices depend on.
  public var seed: UInt64 = 42
  /// How many operations are to start each second, within `rateRange`; `nil` for as many as can.
  public var rate: Double?
  /// What a commit survives, on every engine that can be told.
  public var durability = Durability.normal
  /// What the program calls itself in the report, with its version.
  public var program = "cachectl"
  /// A report that was saved by an earlier run, to compare with; `nil` for none.
  public var saved: (file: String, bytes: [UInt8])?

  /// The defaults.
  public init() {}
}
