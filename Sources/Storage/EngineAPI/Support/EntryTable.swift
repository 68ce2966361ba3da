/// Entries in memory, ordered by key, for engines that keep a whole store or a whole file of it in memory.
///
/// It is a value: a copy shares storage until either one changes. To get "all or nothing", change a copy and keep it
/// only if everything succeeded.
public struct EntryTable: Sendable {
  /// An entry's payload and metadata.
  public struct Entry: Sendable, Hashable {
    /// The entry's bytes.
    public let payload: [UInt8]
    /// The entry's metadata.
    public let metadata: EntryMetadata

    /// An entry with the bytes `payload`.
    public init(payload: [UInt8], metadata: EntryMetadata) {
      self.payload = payload
      self.metadata = metadata
    }
  }

  /// The entries by key.
  public private(set) var entries: [CacheKey: Entry] = [:]

  /// The number of entries and their sizes.
  public private(set) var count = StoreCount()

  /// The keys in order; `nil` in a table that started with entries and was not scanned yet. One that started empty
  /// keeps them from its first entry on, so that no scan has to sort a large table.
  private var orderedKeys: OrderedKeys?

  /// A table of `entries`; empty by default.
  public init(_ entries: [CacheKey: Entry] = [:]) {
    self.entries = entries
    orderedKeys = entries.isEmpty ? OrderedKeys([]) : nil
    for (key, entry) in entries { add(entry, as: key) }
  }

  /// The entry under `key`. Cost: one hash.
  public subscript(key: CacheKey) -> Entry? { entries[key] }

  /// The entries that a batch replaced or removed, each as it was before; `nil` for one that it added.
  public struct Undo: Sendable {
    fileprivate var replaced: [(key: CacheKey, before: Entry?)] = []

    /// Whether the batch changed nothing: it only required something, or removed entries that were not there.
    public var isEmpty: Bool { replaced.isEmpty }
  }

  /// Makes all the changes of `batch`, or none. Cost: proportional to the batch, not to the table.
  ///
  /// - Returns: what takes the changes back.
  /// - Throws: `CacheError` with the code `conflict` if a requirement does not hold, `overBounds` if the table would
  ///   exceed the batch's bounds.
  @discardableResult
  public mutating func apply(_ batch: WriteBatch) throws(CacheError) -> Undo {
    var undo = Undo()
    undo.replaced.reserveCapacity(batch.operations.count)
    do throws(CacheError) {
      for operation in batch.operations {
        switch operation {
        case .put(let key, let payload, let metadata):
          undo.replaced.append((key, replace(key, with: Entry(payload: payload, metadata: metadata))))
        case .update(let key, let metadata, let checksum):
          guard let entry = entries[key], entry.metadata.checksum == checksum else { throw .conflict(on: key) }
          undo.replaced.append((key, replace(key, with: Entry(payload: entry.payload, metadata: metadata))))
        case .remove(let key):
          if let before = replace(key, with: nil) { undo.replaced.append((key, before)) }
        case .require(let key, let expectation):
          guard expectation.isMet(by: entries[key]?.metadata) else { throw .conflict(on: key) }
        }
      }
      try batch.bounds?.require(count)
    } catch {
      revert(undo)
      throw error
    }
    return undo
  }

  /// Takes back the changes of the last batch, or of the one before those that were taken back.
  public mutating func revert(_ undo: Undo) {
    for (key, before) in undo.replaced.reversed() { _ = replace(key, with: before) }
  }

  private mutating func replace(_ key: CacheKey, with entry: Entry?) -> Entry? {
    let before = entry.map { entries.updateValue($0, forKey: key) } ?? entries.removeValue(forKey: key)
    if before == nil, entry != nil { orderedKeys?.insert(key) }
    if before != nil, entry == nil { orderedKeys?.remove(key) }
    if let before { count[key.namespace].remove(payloadBytes: before.payload.count) }
    if let entry { add(entry, as: key) }
    return before
  }

  private mutating func add(_ entry: Entry, as key: CacheKey) {
    count[key.namespace].add(payloadBytes: entry.payload.count, retainUntil: entry.metadata.retainUntil)
  }

  /// Removes the entries that are expired at `time`, and returns whether there were any. Cost: a pass over all entries.
  public mutating func removeExpired(at time: Timestamp) -> Bool {
    let expired = entries.filter { $0.value.metadata.state(at: time) == .expired }.keys
    for key in expired { _ = replace(key, with: nil) }
    count = StoreCount()
    for (key, entry) in entries { add(entry, as: key) }
    return !expired.isEmpty
  }

  /// The page that `request` asks for. Cost: see `scan(into:)`.
  public mutating func scan(_ request: ScanRequest) -> ScanPage {
    var page = ScanPage.Builder(request)
    scan(into: &page)
    return page.page
  }

  /// Adds the entries of the table to a page. Cost: two binary searches plus the entries found; the first scan of a table
  /// that started with entries also sorts their keys.
  public mutating func scan(into page: inout ScanPage.Builder) {
    let keys = orderedKeys ?? OrderedKeys(entries.keys)
    if orderedKeys == nil { orderedKeys = keys }
    for key in keys.keys(in: page.request, limit: page.wanted) {
      guard let entry = entries[key] else { continue }
      guard page.add(key, entry.metadata, payloadBytes: entry.payload.count, payload: entry.payload) else { return }
    }
  }
}
