internal import CacheBase
public import EngineAPI

/// What a benchmark does: its entries, and the phases that use them.
///
/// `WorkloadCatalogue` has the workloads.
public struct Workload: Sendable, Hashable {
  /// The contents of the entries.
  public enum Payload: Sendable, Hashable {
    /// Meaningless bytes, of the sizes that the workload sets.
    case bytes
    /// Records that each read decodes; see `BenchmarkActions.typed`.
    case typed
    /// Resources fetched through the cache, instead of through the engine directly; see `BenchmarkActions.makeFetcher`.
    case fetched
    /// Records read through the cache, which keeps what it has decoded; see `BenchmarkActions.makeFetcher`.
    case kept
    /// Meaningless bytes read through the cache, which may keep only some of the entries (`Workload.limit`): a read of
    /// an entry that is not there stores it.
    case bounded

    /// Whether the cache stores and reads the entries, instead of the engine directly.
    var isThroughCache: Bool { self == .fetched || self == .kept || self == .bounded }

    /// Whether the workload sets the sizes of the values.
    var hasSizes: Bool { self == .bytes || self == .bounded }
  }

  /// The allowed numbers of entries: keys have room for that many.
  public static let entriesRange = 1...100_000_000
  /// The allowed numbers of operations.
  public static let operationsRange = 1...1_000_000_000
  /// The allowed sizes of values, in bytes: every engine accepts them.
  public static let valueSizeRange = 0...(64 << 20)

  /// The name: lower-case letters, digits and hyphens.
  public let name: String
  /// The number of entries that a load stores, within `entriesRange`.
  public var entries: Int
  /// The number of operations of a phase, within `operationsRange`.
  public var operations: Int
  /// The size of the values, in bytes; irrelevant unless the payload is `bytes` or `bounded`.
  public var valueSize: Int
  /// The length of the keys in bytes, including the namespace, 16 or more.
  public var keyLength: Int
  /// The contents of the entries.
  public let payload: Payload
  /// The share of entries that have expired when they are stored, from 0 to 1.
  public let expiringShare: Double
  /// The share of the entries that the store may hold, above 0 and at most 1; below 1 only if the payload is `bounded`.
  public let limit: Double
  /// The phases in order. The first is a load, and every load begins with an empty store.
  public let phases: [WorkloadPhase]

  init(
    _ name: String, entries: Int = 10_000, operations: Int = 10_000, valueSize: Int = 1_000, keyLength: Int = 24,
    payload: Payload = .bytes, expiringShare: Double = 0, limit: Double = 1, _ phases: [WorkloadPhase]
  ) {
    self.name = name
    self.entries = entries
    self.operations = operations
    self.valueSize = valueSize
    self.keyLength = keyLength
    self.payload = payload
    self.expiringShare = expiringShare
    self.limit = limit
    self.phases = phases
  }
}

/// A separately measured part of a workload.
public struct WorkloadPhase: Sendable, Hashable {
  /// The kind of work in a phase.
  public enum Kind: Sendable, Hashable {
    /// Stores every entry once, in an empty store.
    case load
    /// Does these operations in random order; their shares add up to 1.
    case operations([WorkloadOperation: Double])
    /// Compacts the store, which must remove the expired entries and no others. Each removed entry counts as an
    /// operation.
    case expire
    /// Opens the store, reads one entry, and closes the store.
    case open

    static let read = operations([.read: 1])
  }

  /// The name, unique in the workload: lower-case letters, digits and hyphens.
  public let name: String
  /// The kind of work.
  public let kind: Kind
  /// How entries are chosen. A load stores them in random order if this is `uniform`, otherwise in the order of their
  /// keys.
  public let distribution: KeyDistribution
  /// The number of entries in one call of the engine, for a load; 1 for other phases.
  public let batchSize: Int
  /// The numbers of entries that a scan requests, each equally often.
  public let scanLength: ClosedRange<Int>
  /// Whether to report the phase; an unreported one only prepares another.
  public let isMeasured: Bool

  init(
    _ name: String, _ kind: Kind, _ distribution: KeyDistribution = .uniform, batchSize: Int = 1,
    scanLength: ClosedRange<Int> = 1...100, isMeasured: Bool = true
  ) {
    self.name = name
    self.kind = kind
    self.distribution = distribution
    self.batchSize = batchSize
    self.scanLength = scanLength
    self.isMeasured = isMeasured
  }
}

/// An operation of a phase on one entry, or on the entries from one on.
public enum WorkloadOperation: String, Sendable, Hashable, CaseIterable {
  /// Reads the entry: its bytes, or the decoded record if the workload's payload is not plain bytes.
  case read
  /// Stores a new value under the key of an entry.
  case update
  /// Stores a new entry, after all others in the order of keys.
  case insert
  /// Lists entries from one on, in the order of their keys.
  case scan
  /// Reads the entry, then stores a new value under its key.
  case readModifyWrite
}

extension WorkloadPhase {
  /// The operations with their cumulative shares, for a draw from 0 to 1; empty if the phase does other work.
  var cumulativeShares: [(operation: WorkloadOperation, share: Double)] {
    guard case .operations(let shares) = kind else { return [] }
    var sum = 0.0
    return WorkloadOperation.allCases.compactMap { operation in
      guard let share = shares[operation], share > 0 else { return nil }
      sum += share
      return (operation, sum)
    }
  }

  /// The share of an operation, from 0 to 1.
  func share(of operation: WorkloadOperation) -> Double {
    guard case .operations(let shares) = kind else { return 0 }
    return shares[operation] ?? 0
  }

  /// Whether the phase changes the store.
  var writes: Bool {
    switch kind {
    case .load, .expire: true
    case .open: false
    case .operations: share(of: .read) + share(of: .scan) < 1
    }
  }
}

extension Workload {
  /// The number of operations of a phase. For a load and for `expire` that is a number of entries, which for `expire`
  /// is an estimate.
  public func operations(of phase: WorkloadPhase) -> Int {
    switch phase.kind {
    case .load: entries
    case .expire: Int(Double(entries) * expiringShare)
    case .operations, .open: operations
    }
  }

  /// The maximum number of entries after all phases.
  var capacity: Int {
    entries + phases.filter { $0.share(of: .insert) > 0 }.reduce(0) { $0 + operations(of: $1) }
  }

  /// The most entries that the store may hold while `processes` use it; `nil` for any number.
  func maximumEntries(processes: Int) -> Int? {
    payload == .bounded ? max(1, Int((Double(entries * processes) * limit).rounded())) : nil
  }

  /// Whether the workload reopens its store and expects it unchanged.
  var needsPersistence: Bool { phases.contains { $0.kind == .open } }
}

/// The workloads by name.
///
/// `ycsb-a` to `ycsb-f` are the core workloads of YCSB (Cooper et al., "Benchmarking cloud serving systems with YCSB",
/// 2010) by their published definitions: proportions, distributions, a zipfian exponent of 0.99, records of 1,000 bytes,
/// scans of 1 to 100 entries. Two things differ, because every answer is checked: keys are in the order in which entries
/// are inserted after the load (which is itself in random order), and a record is one value, not ten fields.
public enum WorkloadCatalogue {
  private static let all = [
    ycsb("a", [.read: 0.5, .update: 0.5]),
    ycsb("b", [.read: 0.95, .update: 0.05]),
    ycsb("c", [.read: 1]),
    ycsb("d", [.read: 0.95, .insert: 0.05], .latest),
    ycsb("e", [.scan: 0.95, .insert: 0.05]),
    ycsb("f", [.read: 0.5, .readModifyWrite: 0.5]),
    Workload(
      "fill", valueSize: 100, keyLength: 16,
      [WorkloadPhase("single", .load), WorkloadPhase("batches", .load, batchSize: 1_000)]),
    Workload(
      "read", entries: 100_000, operations: 100_000, valueSize: 100, keyLength: 16,
      [load, WorkloadPhase("read", .read)]),
    Workload(
      "typed", entries: 1_000, operations: 20_000, keyLength: 40, payload: .typed,
      [WorkloadPhase("load", .load, batchSize: 100, isMeasured: false), WorkloadPhase("read", .read)]),
    Workload(
      "typed-repeated", entries: 500, operations: 100_000, keyLength: 40, payload: .kept,
      [
        WorkloadPhase("load", .load, isMeasured: false), WorkloadPhase("first", .read, .sequential, isMeasured: false),
        WorkloadPhase("read", .read),
      ]),
    Workload(
      "full", entries: 100_000, operations: 100_000, payload: .bounded, limit: 0.1,
      [WorkloadPhase("load", .load), WorkloadPhase("run", .read, .zipfian)]),
    Workload(
      "scan", operations: 1_000, [load, WorkloadPhase("scan", .operations([.scan: 1]), scanLength: 100...100)]),
    Workload("expire", expiringShare: 0.5, [load, WorkloadPhase("expire", .expire), WorkloadPhase("read", .read)]),
    Workload("open", operations: 1_000, valueSize: 100, keyLength: 16, [load, WorkloadPhase("open", .open)]),
    Workload(
      "articles", entries: 100, payload: .fetched,
      [WorkloadPhase("miss", .load), WorkloadPhase("hit", .read, .zipfian)]),
  ]

  private static let load = WorkloadPhase("load", .load, batchSize: 1_000, isMeasured: false)

  private static func ycsb(
    _ letter: String, _ shares: [WorkloadOperation: Double], _ distribution: KeyDistribution = .zipfian
  ) -> Workload {
    Workload(
      "ycsb-" + letter,
      [WorkloadPhase("load", .load, batchSize: 1_000), WorkloadPhase("run", .operations(shares), distribution)])
  }

  /// The names, in the order of display.
  public static var names: [String] { all.map(\.name) }

  /// The workload called `name`; `nil` if there is none.
  public static func workload(named name: String) -> Workload? { all.first { $0.name == name } }

  /// The name closest to `name`.
  public static func nearestName(to name: String) -> String? { Spelling.nearest(to: name, among: names) }
}

/// The operations of one phase of a workload as a list, with the keys and the values: for a program that does them in a
/// way of its own, such as one that uses a storage library directly.
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

  /// The operations of the phase called `phase`, which is a load, opens the store, or reads and updates.
  ///
  /// - Parameter now: the time of the run, for the metadata.
  /// - Throws: `CacheError` with the code `invalidOption` for another phase.
  public init(_ workload: Workload, phase name: String, seed: UInt64 = 42, now: Timestamp) throws(CacheError) {
    guard let phase = workload.phases.first(where: { $0.name == name }), let operations = workload.trace(phase, seed)
    else { throw CacheError(.invalidOption, "the workload \(workload.name) has no phase \(name) to trace") }
    self.operations = operations
    batchSize = phase.batchSize
    entries = workload.entries
    keys = try KeySpace(length: workload.keyLength, share: nil)
    values = EntryValues(workload, seed: seed, now: now)
  }

  /// The key of the entry with the given number.
  public func key(_ number: Int) throws(CacheError) -> CacheKey { try keys.key(number) }

  /// The value to write, and its metadata. The checksum differs from those of all other versions and entries.
  public func value(_ operation: Operation) -> (payload: [UInt8], metadata: EntryMetadata) {
    let tag = values.tag(operation.number, operation.version)
    return (values.payload(tag: tag), values.metadata(operation.number, tag: tag))
  }
}

extension Workload {
  /// The operations of `phase`; `nil` if they are of another kind than a trace can have.
  fileprivate func trace(_ phase: WorkloadPhase, _ seed: UInt64) -> [OperationTrace.Operation]? {
    var random = SeededGenerator(seed: seed)
    let count = UInt64(entries)
    var chooser = KeyChooser(phase.distribution, count: count, expected: count)
    let updates = phase.share(of: .update)
    switch phase.kind {
    case .load:
      let order = NumberPermutation(count: count, seed: seed)
      return (0..<entries).map { OperationTrace.Operation(number: Int(order[UInt64($0)]), version: 1) }
    case .operations where abs(updates + phase.share(of: .read) - 1) < 1e-9, .open:
      return (0..<operations(of: phase)).map { index in
        let number = Int(chooser.next(count: count, &random))
        // Each write has a version of its own, so that a read that misses one is noticed.
        return OperationTrace.Operation(number: number, version: random.unit() < updates ? UInt32(index) + 2 : 0)
      }
    case .operations, .expire: return nil
    }
  }
}
