/// A number of entries, and the sum of the sizes of their payloads. In a difference both can be negative.
public struct EntryCount: Sendable, Hashable {
  /// The number of entries.
  public var entries: Int
  /// The sum of the sizes of their payloads, in bytes.
  public var payloadBytes: Int
  /// No entry has a `retainUntil` before this time; it can be earlier than that of any. `distantFuture` if there are
  /// none.
  ///
  /// An engine lowers it with each put and raises it when it compacts the store or the last entry goes, because the next
  /// one to expire is not known when an entry goes.
  public var earliestExpiry: Timestamp

  /// A count; of nothing by default.
  public init(entries: Int = 0, payloadBytes: Int = 0, earliestExpiry: Timestamp = .distantFuture) {
    self.entries = entries
    self.payloadBytes = payloadBytes
    self.earliestExpiry = earliestExpiry
  }

  /// Counts an entry.
  public mutating func add(payloadBytes: Int, retainUntil: Timestamp) {
    self += EntryCount(entries: 1, payloadBytes: payloadBytes, earliestExpiry: retainUntil)
  }

  /// Stops counting an entry. `earliestExpiry` stays unchanged.
  public mutating func remove(payloadBytes: Int) {
    self += EntryCount(entries: -1, payloadBytes: -payloadBytes)
  }

  /// The sum of two counts; `earliestExpiry` is the earlier one.
  public static func + (left: EntryCount, right: EntryCount) -> EntryCount {
    EntryCount(
      entries: left.entries + right.entries, payloadBytes: left.payloadBytes + right.payloadBytes,
      earliestExpiry: min(left.earliestExpiry, right.earliestExpiry))
  }

  /// Adds a count.
  public static func += (left: inout EntryCount, right: EntryCount) { left = left + right }
}

/// How much a store holds, by namespace. An engine updates it with each batch, in the same transaction, so that counting
/// costs the same for ten entries and for a million.
public struct StoreCount: Sendable, Hashable {
  /// The count of each namespace that has entries.
  public private(set) var namespaces: [String: EntryCount] = [:]

  /// The space that the store takes up, in bytes: all its files, or memory.
  public var storageBytes: Int

  /// A count; of nothing by default. Namespaces without entries are left out.
  public init(namespaces: [String: EntryCount] = [:], storageBytes: Int = 0) {
    self.storageBytes = storageBytes
    add(namespaces)
  }

  /// The count of one namespace. It is forgotten, with its `earliestExpiry`, once it has no entries.
  public subscript(namespace: String) -> EntryCount {
    get { namespaces[namespace] ?? EntryCount() }
    set { namespaces[namespace] = newValue.entries == 0 ? nil : newValue }
  }

  /// Adds to the count of each namespace what a batch has changed.
  public mutating func add(_ difference: [String: EntryCount]) {
    for (namespace, count) in difference { self[namespace] += count }
  }

  /// The number of entries in all namespaces.
  public var entries: Int { total().entries }

  /// The sum of all payload sizes, in bytes.
  public var payloadBytes: Int { total().payloadBytes }

  /// The count of all entries outside the namespace `exempt`. Cost: proportional to the number of namespaces.
  public func total(except exempt: String? = nil) -> EntryCount {
    namespaces.reduce(EntryCount()) { sum, part in part.key == exempt ? sum : sum + part.value }
  }

  /// The count without the entries of `namespace`.
  public func without(_ namespace: String) -> StoreCount {
    StoreCount(namespaces: namespaces.filter { $0.key != namespace }, storageBytes: storageBytes)
  }
}
