/// Changes that an engine makes together: all of them or none, even if the process dies in between.
///
/// Operations take effect in the order they were added, and each sees the effects of the earlier ones. If a requirement
/// does not hold, the whole batch fails with the code `conflict` and changes nothing. That is how two processes update
/// one entry without losing each other's change: read, require the version that was read, write, and start over on a
/// conflict.
public struct WriteBatch: Sendable {
  /// One change or condition.
  public enum Operation: Sendable {
    /// Stores the payload and metadata under the key, replacing any entry that was there.
    case put(CacheKey, payload: [UInt8], EntryMetadata)
    /// Replaces the metadata of the entry, and keeps its payload; fails the batch unless the entry has the checksum `from`.
    case update(CacheKey, EntryMetadata, from: UInt64)
    /// Removes the entry, if there is one.
    case remove(CacheKey)
    /// Fails the batch unless the entry is as expected.
    case require(CacheKey, Expectation)

    /// The key of the entry.
    public var key: CacheKey {
      switch self {
      case .put(let key, _, _), .update(let key, _, _), .remove(let key), .require(let key, _): key
      }
    }
  }

  /// A requirement of a batch about an entry.
  public enum Expectation: Sendable, Hashable {
    /// The engine holds no entry under the key.
    case absent
    /// The engine holds an entry whose metadata has this checksum.
    case checksum(UInt64)

    /// Whether an entry with this checksum (`nil` if there is none) is as expected.
    public func isMet(byChecksum checksum: UInt64?) -> Bool {
      switch self {
      case .absent: checksum == nil
      case .checksum(let expected): checksum == expected
      }
    }
  }

  /// The operations, in order.
  public private(set) var operations: [Operation]

  /// Limits that the store must meet after all operations; `nil` for no limit. If it would exceed them, the whole batch
  /// fails with the code `overBounds` and changes nothing.
  public var bounds: StoreBounds?

  /// A batch of `operations`, without bounds. Applying one without operations does nothing.
  public init(_ operations: [Operation] = []) { self.operations = operations }

  /// Adds an operation that stores an entry.
  public mutating func put(_ key: CacheKey, payload: [UInt8], metadata: EntryMetadata) {
    operations.append(.put(key, payload: payload, metadata))
  }

  /// Adds an operation that replaces the metadata of an entry, whose payload stays unchanged.
  ///
  /// - Parameters:
  ///   - metadata: the new metadata, with the `payloadChecksum` of the entry.
  ///   - checksum: the present checksum of the entry. The batch fails with the code `conflict` if it has another one, or if
  ///     there is no entry.
  public mutating func update(_ key: CacheKey, metadata: EntryMetadata, from checksum: UInt64) {
    operations.append(.update(key, metadata, from: checksum))
  }

  /// Adds an operation that removes an entry.
  public mutating func remove(_ key: CacheKey) {
    operations.append(.remove(key))
  }

  /// Adds a condition on an entry, which is checked after the operations added so far.
  public mutating func require(_ key: CacheKey, _ expectation: Expectation) {
    operations.append(.require(key, expectation))
  }
}

/// Limits on a store, counted the same way on every engine: the number of entries, and the bytes of their payloads.
public struct StoreBounds: Sendable, Hashable {
  /// The largest number of entries.
  public let maxEntries: Int
  /// The largest sum of all payload sizes, in bytes.
  public let maxPayloadBytes: Int
  /// The namespace whose entries do not count; `nil` if all entries count.
  public let exemptNamespace: String?

  /// Bounds; the numbers must not be negative.
  public init(maxEntries: Int, maxPayloadBytes: Int, exemptNamespace: String? = nil) {
    self.maxEntries = maxEntries
    self.maxPayloadBytes = maxPayloadBytes
    self.exemptNamespace = exemptNamespace
  }

  /// Whether a store that holds `count` is within the bounds.
  public func contain(_ count: StoreCount) -> Bool {
    let total = count.total(except: exemptNamespace)
    return total.entries <= maxEntries && total.payloadBytes <= maxPayloadBytes
  }

  /// Throws `CacheError` with the code `overBounds` if a store that holds `count` is not within the bounds.
  public func require(_ count: StoreCount) throws(CacheError) {
    guard contain(count) else {
      throw CacheError(
        .overBounds, "the store would hold more than \(maxEntries) entries or \(maxPayloadBytes) bytes",
        hint: "remove entries, or raise maxEntries or maxBytes")
    }
  }
}
