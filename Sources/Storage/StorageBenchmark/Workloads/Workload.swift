/// What a benchmark does: its entries, and the phases that use them.
///
/// Workloads are data. Well-known ones and this project's own are built in (`WorkloadCatalogue`); users' own are read
/// from files of the same format (`WorkloadReader`).
public struct Workload: Sendable, Hashable {
  /// The contents of the entries.
  public enum Payload: String, Sendable, Hashable, CaseIterable {
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
  /// The allowed lengths of keys, in bytes.
  public static let keyLengthRange = 16...1_024

  /// The name: lower-case letters, digits and hyphens.
  public let name: String
  /// The purpose of the workload, in one line without a final full stop.
  public let summary: String
  /// The number of entries that a load stores, within `entriesRange`.
  public var entries: Int
  /// The number of operations of a phase whose factor is 1, within `operationsRange`.
  public var operations: Int
  /// The sizes of the values, in bytes; irrelevant unless the payload is `bytes` or `bounded`.
  public var valueSize: SizeDistribution
  /// The length of the keys in bytes, including the namespace, within `keyLengthRange`.
  public var keyLength: Int
  /// The contents of the entries.
  public let payload: Payload
  /// The share of entries that have expired when they are stored, from 0 to 1.
  public let expiringShare: Double
  /// The share of the entries that the store may hold, above 0 and at most 1; below 1 only if the payload is `bounded`.
  public let limit: Double
  /// The phases in order. The first is a load, and every load begins with an empty store.
  public let phases: [WorkloadPhase]
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
  }

  /// The name, unique in the workload: lower-case letters, digits and hyphens.
  public let name: String
  /// The kind of work.
  public let kind: Kind
  /// How entries are chosen. A load stores them in random order if this is `uniform`, otherwise in the order of their
  /// keys.
  public let distribution: KeyDistribution
  /// The number of entries in one call of the engine.
  public let batchSize: Int
  /// The number of operations as a multiple of the workload's; irrelevant for a load and for `expire`.
  public let operationsFactor: Double
  /// The number of entries that a scan requests.
  public let scanLength: SizeDistribution
  /// Whether to report the phase; an unreported one only prepares another.
  public let isMeasured: Bool
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
    case .operations, .open: max(1, Int((Double(operations) * phase.operationsFactor).rounded()))
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
