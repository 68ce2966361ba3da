/// Changes that an engine makes together: all of them or none, even when the process dies in between.
///
/// Operations take effect in the order in which they were added; a later one sees what an earlier one did. A
/// requirement that does not hold makes the whole batch fail with the code `conflict`, and nothing is changed. That is
/// how two processes update one entry without losing either's change: read, require what was read, write, and begin
/// again on a conflict.
public struct WriteBatch: Sendable {
  /// One change or condition.
  public enum Operation: Sendable {
    /// Stores the payload and metadata under the key, in place of what was there.
    case put(CacheKey, payload: [UInt8], EntryMetadata)
    /// Removes the entry, if there is one.
    case remove(CacheKey)
    /// Goes on only if the entry is as expected.
    case require(CacheKey, Expectation)
  }

  /// What a batch may require of an entry.
  public enum Expectation: Sendable, Hashable {
    /// The engine holds no entry under the key.
    case absent
    /// The engine holds an entry whose metadata has this checksum.
    case checksum(UInt64)

    /// Whether an entry with the metadata `metadata` (`nil` where there is none) is as expected.
    public func isMet(by metadata: EntryMetadata?) -> Bool { isMet(byChecksum: metadata?.checksum) }

    /// Whether an entry with the checksum `checksum` (`nil` where there is no entry) is as expected.
    public func isMet(byChecksum checksum: UInt64?) -> Bool {
      switch self {
      case .absent: checksum == nil
      case .checksum(let expected): checksum == expected
      }
    }
  }

  /// The operations, in order.
  public private(set) var operations: [Operation] = []

  /// What the store must be within after all operations; `nil` for anything. Where it is not, the whole batch fails
  /// with the code `overBounds`, and nothing is changed.
  public var bounds: StoreBounds?

  /// A batch without operations, whose application does nothing.
  public init() {}

  /// Adds the storing of an entry.
  public mutating func put(_ key: CacheKey, payload: [UInt8], metadata: EntryMetadata) {
    operations.append(.put(key, payload: payload, metadata))
  }

  /// Adds the removal of an entry.
  public mutating func remove(_ key: CacheKey) {
    operations.append(.remove(key))
  }

  /// Adds a condition on an entry, as it is after the operations added so far.
  public mutating func require(_ key: CacheKey, _ expectation: Expectation) {
    operations.append(.require(key, expectation))
  }
}
