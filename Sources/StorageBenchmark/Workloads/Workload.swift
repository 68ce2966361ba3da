/// What a benchmark does: which entries there are, and in which phases they are used.
///
/// Workloads are data. Those of the field and of this project are built in (`WorkloadCatalogue`), and anybody's own are
/// read from files of the same format (`WorkloadReader`).
public struct Workload: Sendable, Hashable {
  /// What the entries hold.
  public enum Payload: String, Sendable, Hashable, CaseIterable {
    /// Bytes that mean nothing, of the size that the workload says.
    case bytes
    /// Records that each read decodes; see `BenchmarkActions.typed`.
    case typed
    /// What is fetched through the cache, and not by the engine directly; see `BenchmarkActions.makeFetcher`.
    case fetched
    /// Records that are read through the cache, which keeps what it has decoded; see `BenchmarkActions.makeReader`.
    case kept

    /// Whether the cache stores and reads the entries, and not the engine directly.
    var isThroughCache: Bool { self == .fetched || self == .kept }
  }

  /// The number of entries that a workload may have: keys have room for as many.
  public static let entriesRange = 1...100_000_000
  /// The number of operations that a workload may have.
  public static let operationsRange = 1...1_000_000_000
  /// The size of values that a workload may ask for, in bytes: what every engine takes.
  public static let valueSizeRange = 0...(64 << 20)
  /// The length of keys that a workload may ask for, in bytes.
  public static let keyLengthRange = 16...1_024

  /// The name: lower-case letters, digits and hyphens.
  public let name: String
  /// What the workload stands for, in one line without a final full stop.
  public let summary: String
  /// The number of entries that a load stores, within `entriesRange`.
  public var entries: Int
  /// The number of operations of a phase whose factor is 1, within `operationsRange`.
  public var operations: Int
  /// The sizes of the values, in bytes; of no meaning where the payload is not `bytes`.
  public var valueSize: SizeDistribution
  /// The length of the keys in bytes, namespace included, within `keyLengthRange`.
  public var keyLength: Int
  /// What the entries hold.
  public let payload: Payload
  /// The share of entries that are expired when they are stored, from 0 to 1.
  public let expiringShare: Double
  /// What is done, in this order. The first is a load, and every load begins with an empty store.
  public let phases: [WorkloadPhase]
}

/// One part of a workload, measured by itself.
public struct WorkloadPhase: Sendable, Hashable {
  /// What kind of work a phase is.
  public enum Kind: Sendable, Hashable {
    /// Stores every entry once, in a store that is empty.
    case load
    /// Does these operations in random order; their shares add up to 1.
    case operations([WorkloadOperation: Double])
    /// Compacts the store, which must remove the expired entries and no other. An operation is an entry removed.
    case expire
    /// Opens the store, reads one entry, and closes it.
    case open
  }

  /// The name, which no other phase of the workload has: lower-case letters, digits and hyphens.
  public let name: String
  /// What kind of work it is.
  public let kind: Kind
  /// How entries are chosen. A load stores them in random order where it is `uniform`, else in that of their keys.
  public let distribution: KeyDistribution
  /// How many entries go into one call of the engine.
  public let batchSize: Int
  /// The number of operations in proportion to the workload's; of no meaning for a load and for `expire`.
  public let operationsFactor: Double
  /// How many entries a scan asks for.
  public let scanLength: SizeDistribution
  /// Whether the phase is reported; one that is not only prepares another.
  public let isMeasured: Bool
}

/// Something that a phase does to one entry, or to the entries from one on.
public enum WorkloadOperation: String, Sendable, Hashable, CaseIterable {
  /// Reads the entry: its bytes, or what is made of them where the workload's payload is not plain bytes.
  case read
  /// Stores another value under the key of an entry.
  case update
  /// Stores a new entry, behind all others in the order of keys.
  case insert
  /// Lists entries from one on, in the order of their keys.
  case scan
  /// Reads the entry, then stores another value under its key.
  case readModifyWrite
}
