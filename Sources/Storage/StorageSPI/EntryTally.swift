/// Counts a store's entries and payload bytes, by namespace and by the time at which their state changes.
///
/// An engine updates it with each batch, in the same transaction, so that counting costs the same for ten entries and
/// for a million. It counts by slot. A slot holds the entries of one namespace that become stale within the same 2^20
/// milliseconds (17.5 minutes) and expire within the same 2^20 milliseconds. A store has one slot per such pair of
/// times: hundreds, not millions.
public struct EntryTally: Sendable, Hashable {
  /// The binary logarithm of a slot's width in milliseconds.
  public static let slotBits: Int64 = 20

  /// A group of entries that are counted together.
  public struct Slot: Sendable, Hashable, Comparable {
    /// Their namespace.
    public let namespace: String
    /// Their `freshUntil` in milliseconds, divided by the width of a slot and rounded down.
    public let freshSlot: Int64
    /// Their `retainUntil`, likewise.
    public let retainSlot: Int64

    /// A slot from its raw parts; both slot numbers are times in milliseconds divided by the slot width.
    public init(namespace: String, freshSlot: Int64, retainSlot: Int64) {
      self.namespace = namespace
      self.freshSlot = freshSlot
      self.retainSlot = retainSlot
    }

    /// The slot of an entry in `namespace` with the metadata `metadata`.
    public init(namespace: String, _ metadata: EntryMetadata) {
      self.init(namespace: namespace, freshUntil: metadata.freshUntil, retainUntil: metadata.retainUntil)
    }

    /// The slot of an entry in `namespace` with the given times.
    public init(namespace: String, freshUntil: Timestamp, retainUntil: Timestamp) {
      self.init(
        namespace: namespace, freshSlot: freshUntil.milliseconds >> slotBits,
        retainSlot: retainUntil.milliseconds >> slotBits)
    }

    /// The state of all entries of the slot at `time`; `nil` if some of them may change state within the slot. It
    /// cannot tell which entries were stored ahead of the clock and are therefore stale instead of fresh.
    public func state(at time: Timestamp) -> EntryState? {
      let now = time.milliseconds >> slotBits
      if retainSlot < now { return .expired }
      if retainSlot == now { return nil }
      if freshSlot == now { return nil }
      return freshSlot < now ? .stale : .fresh
    }

    /// Orders by namespace, then by the times.
    public static func < (left: Slot, right: Slot) -> Bool {
      (left.namespace, left.freshSlot, left.retainSlot) < (right.namespace, right.freshSlot, right.retainSlot)
    }
  }

  /// A number of entries and the sum of their payload sizes. In the difference of two tallies, both may be negative.
  public struct Count: Sendable, Hashable {
    /// The number of entries.
    public var entries: Int
    /// The sum of the sizes of their payloads, in bytes.
    public var payloadBytes: Int

    /// A count; zero by default.
    public init(entries: Int = 0, payloadBytes: Int = 0) {
      self.entries = entries
      self.payloadBytes = payloadBytes
    }

    /// The sum of two counts.
    public static func + (left: Count, right: Count) -> Count {
      Count(entries: left.entries + right.entries, payloadBytes: left.payloadBytes + right.payloadBytes)
    }
  }

  /// The count of each slot that has entries.
  public private(set) var slots: [Slot: Count] = [:]
  /// The count of each namespace that has entries.
  public private(set) var namespaces: [String: Count] = [:]

  /// An empty tally.
  public init() {}

  /// Whether nothing is counted.
  public var isEmpty: Bool { slots.isEmpty }

  /// Counts an entry in `slot` whose payload has `payloadBytes` bytes.
  public mutating func add(_ slot: Slot, payloadBytes: Int) {
    add(Count(entries: 1, payloadBytes: payloadBytes), to: slot)
  }

  /// Stops counting an entry of `slot`.
  public mutating func remove(_ slot: Slot, payloadBytes: Int) {
    add(Count(entries: -1, payloadBytes: -payloadBytes), to: slot)
  }

  /// Adds `count`, which may be negative, to the count of `slot`.
  public mutating func add(_ count: Count, to slot: Slot) {
    Self.add(count, to: slot, in: &slots)
    Self.add(count, to: slot.namespace, in: &namespaces)
  }

  /// Adds every slot of `other`.
  public mutating func add(_ other: EntryTally) {
    for (slot, count) in other.slots { add(count, to: slot) }
  }

  /// The count of all entries outside the namespace `exempt`. Cost: proportional to the number of namespaces.
  public func total(except exempt: String? = nil) -> Count {
    namespaces.reduce(Count()) { sum, part in part.key == exempt ? sum : sum + part.value }
  }

  /// The tally without the entries of `namespace`.
  public func without(_ namespace: String) -> EntryTally {
    var tally = EntryTally()
    for (slot, count) in slots where slot.namespace != namespace { tally.add(count, to: slot) }
    return tally
  }

  /// Drops counts of zero, so that tallies of equal entries are equal.
  private static func add<Key: Hashable>(_ count: Count, to key: Key, in counts: inout [Key: Count]) {
    let sum = (counts[key] ?? Count()) + count
    counts[key] = sum == Count() ? nil : sum
  }
}

/// How much a store holds.
public struct StorageStatistics: Sendable, Hashable {
  /// What one namespace holds.
  public struct Namespace: Sendable, Hashable {
    /// The namespace.
    public let name: String
    /// The number of its entries, including expired ones that are still there.
    public let entries: Int
    /// The sum of their payload sizes, in bytes.
    public let payloadBytes: Int

    /// The statistics of the namespace `name`.
    public init(name: String, entries: Int, payloadBytes: Int) {
      self.name = name
      self.entries = entries
      self.payloadBytes = payloadBytes
    }
  }

  /// The number of entries and their sizes.
  public let tally: EntryTally

  /// The space that the store takes up, in bytes: all its files, or memory.
  public let storageBytes: Int

  /// The statistics of each namespace that has entries, ordered by name.
  public var namespaces: [Namespace] {
    tally.namespaces.sorted { $0.key < $1.key }.map { name, count in
      Namespace(name: name, entries: count.entries, payloadBytes: count.payloadBytes)
    }
  }

  /// The number of entries in all namespaces.
  public var entries: Int { tally.total().entries }

  /// The sum of all payload sizes, in bytes.
  public var payloadBytes: Int { tally.total().payloadBytes }

  /// Statistics of a store that takes up `storageBytes` bytes.
  public init(tally: EntryTally, storageBytes: Int) {
    self.tally = tally
    self.storageBytes = storageBytes
  }
}
