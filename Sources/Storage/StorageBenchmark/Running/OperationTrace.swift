internal import Base
public import StorageSPI

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
    (self.operations, batchSize, entries) = (operations, phase.batchSize, workload.entries)
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
