public import EngineAPI

/// The work of a benchmark: its entries, and the phases that use them. `WorkloadCatalogue` has the workloads.
public struct Workload: Sendable, Hashable {
  /// The contents of the entries.
  public enum Payload: Sendable, Hashable {
    /// Meaningless bytes, of the sizes that the workload sets.
    case bytes
    /// Records that each read decodes; see `BenchmarkActions.typed`.
    case typed
    /// Meaningless bytes, read through a cache that can keep only a tenth of the entries: a read of an entry that is
    /// not there stores it; see `BenchmarkActions.openCache`.
    case bounded
  }

  /// The allowed numbers of entries: keys have room for that many.
  public static let entriesRange = 1...100_000_000
  /// The allowed numbers of operations.
  public static let operationsRange = 1...1_000_000_000
  /// The allowed sizes of values, in bytes: every engine accepts them.
  public static let valueSizeRange = 0...(64 << 20)

  /// The name: lowercase letters, digits and hyphens.
  public let name: String
  /// The number of entries that a load stores, within `entriesRange`.
  public var entries: Int
  /// The number of operations of a phase that is not a load, within `operationsRange`.
  public var operations: Int
  /// The size of the values, in bytes; irrelevant if the payload is `typed`.
  public var valueSize: Int
  /// The length of the keys in bytes, including the namespace, 16 or more.
  public var keyLength: Int
  /// The contents of the entries.
  public let payload: Payload
  /// The phases in order. The first is a load, and every load begins with an empty store.
  public let phases: [WorkloadPhase]

  init(
    _ name: String, entries: Int = 10_000, operations: Int = 10_000, valueSize: Int = 1_000, keyLength: Int = 24,
    payload: Payload = .bytes, _ phases: [WorkloadPhase]
  ) {
    self.name = name
    self.entries = entries
    self.operations = operations
    self.valueSize = valueSize
    self.keyLength = keyLength
    self.payload = payload
    self.phases = phases
  }

  /// The number of operations of a phase.
  public func operations(of phase: WorkloadPhase) -> Int { phase.isLoad ? entries : operations }

  /// The most entries that the store can hold while `processes` use it; `nil` for any number.
  func maximumEntries(processes: Int) -> Int? {
    payload == .bounded ? max(1, (entries * processes + 5) / 10) : nil
  }

  /// Whether the workload reopens its store and expects it unchanged.
  var needsPersistence: Bool { phases.contains { $0.kind == .open } }

  /// Whether the workload lists entries in order.
  var needsOrder: Bool { phases.contains { $0.kind == .scan } }
}

/// A separately measured part of a workload.
public struct WorkloadPhase: Sendable, Hashable {
  /// The kind of work in a phase.
  public enum Kind: Sendable, Hashable {
    /// Stores every entry once, in random order, in an empty store; `batchSize` entries in one call of the engine.
    case load(batchSize: Int)
    /// Reads entries; the share `updates` of the operations stores a new value under a key instead.
    case read(updates: Double)
    /// Lists `WorkloadPhase.scanLength` entries from one on, in the order of their keys.
    case scan
    /// Opens the store, reads one entry, and closes the store.
    case open
  }

  /// The number of entries that a scan requests.
  public static let scanLength = 100

  /// The name, unique in the workload: lowercase letters, digits and hyphens.
  public let name: String
  /// The kind of work.
  public let kind: Kind
  /// Whether a few entries are chosen most of the time, as by YCSB's (scrambled) zipfian distribution with an exponent
  /// of 0.99; otherwise all are chosen equally often.
  public let isZipfian: Bool
  /// Whether to report the phase; an unreported one only prepares another.
  public let isMeasured: Bool

  init(_ name: String, _ kind: Kind, isZipfian: Bool = false, isMeasured: Bool = true) {
    self.name = name
    self.kind = kind
    self.isZipfian = isZipfian
    self.isMeasured = isMeasured
  }

  /// The number of entries that one call of the engine stores.
  public var batchSize: Int { if case .load(let batchSize) = kind { batchSize } else { 1 } }

  /// The share of operations that store a new value, from 0 to 1.
  public var updates: Double { if case .read(let updates) = kind { updates } else { 0 } }

  var isLoad: Bool { if case .load = kind { true } else { false } }

  /// Whether the phase changes the store.
  var writes: Bool { isLoad || updates > 0 }
}

/// The workloads by name.
///
/// `ycsb-a`, `ycsb-b` and `ycsb-c` are core workloads of YCSB (Cooper et al., "Benchmarking cloud serving systems with
/// YCSB", 2010) by their published definitions: proportions, distribution, records of 1,000 bytes. One thing differs:
/// a record is one value, not ten fields.
public enum WorkloadCatalogue {
  /// The workloads, in the order of display.
  static let all = [
    ycsb("a", updates: 0.5), ycsb("b", updates: 0.05), ycsb("c", updates: 0),
    Workload(
      "fill", valueSize: 100, keyLength: 16,
      [WorkloadPhase("single", .load(batchSize: 1)), WorkloadPhase("batches", .load(batchSize: 1_000))]),
    Workload(
      "read", entries: 100_000, operations: 100_000, valueSize: 100, keyLength: 16,
      [load(1_000), WorkloadPhase("read", .read(updates: 0))]),
    Workload(
      "typed", entries: 1_000, operations: 20_000, keyLength: 40, payload: .typed,
      [load(100), WorkloadPhase("read", .read(updates: 0))]),
    Workload(
      "full", entries: 100_000, operations: 100_000, payload: .bounded,
      [WorkloadPhase("load", .load(batchSize: 1)), WorkloadPhase("run", .read(updates: 0), isZipfian: true)]),
    Workload("scan", operations: 1_000, [load(1_000), WorkloadPhase("scan", .scan)]),
    Workload("open", operations: 1_000, valueSize: 100, keyLength: 16, [load(1_000), WorkloadPhase("open", .open)]),
  ]

  private static func load(_ batchSize: Int) -> WorkloadPhase {
    WorkloadPhase("load", .load(batchSize: batchSize), isMeasured: false)
  }

  private static func ycsb(_ letter: String, updates: Double) -> Workload {
    Workload(
      "ycsb-" + letter,
      [
        WorkloadPhase("load", .load(batchSize: 1_000)),
        WorkloadPhase("run", .read(updates: updates), isZipfian: true),
      ])
  }

  /// The names, in the order of display.
  public static var names: [String] { all.map(\.name) }

  /// The workload called `name`; `nil` if there is none.
  public static func workload(named name: String) -> Workload? { all.first { $0.name == name } }
}

/// The operations of one phase of a workload as a list, with the keys and the values: for a program that uses a storage
/// library directly.
///
/// The runner does the same operations, but checks every answer, which takes as long as a read by a fast engine.
public struct OperationTrace: Sendable {
  /// An operation on one entry.
  public struct Operation: Sendable, Hashable {
    /// The number of the entry, from 0.
    public let number: Int
    /// The version to write, from 1; 0 for a read.
    public let version: UInt32
  }

  /// The operations, in order.
  public let operations: [Operation]
  /// The number of writes in one commit.
  public let batchSize: Int
  /// The number of entries.
  public let entries: Int
  private let keys: KeySpace
  private let values: EntryValues

  /// The operations of the phase called `phase`, which does not scan.
  ///
  /// - Parameter now: the time of the run, for the metadata.
  /// - Throws: `CacheError` with the code `invalidOption` for another phase.
  public init(_ workload: Workload, phase name: String, seed: UInt64 = 42, now: Timestamp) throws(CacheError) {
    guard let phase = workload.phases.first(where: { $0.name == name }), phase.kind != .scan else {
      throw CacheError(.invalidOption, "the workload \(workload.name) has no phase \(name) to trace")
    }
    var random = SeededGenerator(seed: seed)
    let chooser = KeyChooser(count: workload.entries, isZipfian: phase.isZipfian)
    let order = NumberPermutation(count: workload.entries, seed: seed)
    operations = (0..<workload.operations(of: phase)).map { index in
      if phase.isLoad { return Operation(number: order[index], version: 1) }
      let number = chooser.next(&random)
      // Each write has its own version: a read that misses one is noticed.
      return Operation(number: number, version: random.unit() < phase.updates ? UInt32(index) + 2 : 0)
    }
    batchSize = phase.batchSize
    entries = workload.entries
    keys = try KeySpace(length: workload.keyLength)
    values = EntryValues(workload, seed: seed, now: now)
  }

  /// The key of the entry with the given number.
  public func key(_ number: Int) throws(CacheError) -> CacheKey { try keys.key(number) }

  /// The value to write, and its metadata. The checksum differs from those of all other versions and entries.
  public func value(_ operation: Operation) -> (payload: [UInt8], metadata: EntryMetadata) {
    let tag = values.tag(operation.number, operation.version)
    return (values.payload(tag: tag), values.metadata(tag: tag))
  }
}
