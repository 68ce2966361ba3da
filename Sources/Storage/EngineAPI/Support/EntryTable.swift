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
  /// keeps them from its first entry on, so that no scan needs to sort a large table.
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
          guard expectation.isMet(byChecksum: entries[key]?.metadata.checksum) else { throw .conflict(on: key) }
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

/// Sorted keys, in which one key can be inserted or removed without moving all the others.
///
/// Sorted chunks of at most `chunkCapacity` keys, none of them empty, hold the keys in order. A change searches the
/// chunks, then moves keys within one of them. A full chunk is split in half, and an empty one is removed.
struct OrderedKeys: Sendable {
  /// The most keys that a chunk holds.
  static let chunkCapacity = 256

  private var chunks: [[CacheKey]]

  /// Sorts `keys`, which must all be different. Cost: a sort.
  init(_ keys: some Collection<CacheKey>) {
    let sorted = keys.sorted()
    // Half full, which leaves room for insertions.
    let size = Self.chunkCapacity / 2
    chunks = stride(from: 0, to: sorted.count, by: size).map { Array(sorted[$0..<min($0 + size, sorted.count)]) }
  }

  /// Adds `key`, which must not be there yet. Cost: two binary searches, and a move of at most one chunk.
  mutating func insert(_ key: CacheKey) {
    guard !chunks.isEmpty else { return chunks.append([key]) }
    let chunk = max(0, chunks.partitioningIndex { $0[0] > key } - 1)
    chunks[chunk].insert(key, at: chunks[chunk].partitioningIndex { $0 > key })
    guard chunks[chunk].count == Self.chunkCapacity else { return }
    let half = Self.chunkCapacity / 2
    chunks.insert(Array(chunks[chunk][half...]), at: chunk + 1)
    chunks[chunk].removeSubrange(half...)
  }

  /// Removes `key`, if it is there. Cost: the same as `insert`.
  mutating func remove(_ key: CacheKey) {
    let chunk = chunks.partitioningIndex { $0[0] > key } - 1
    guard chunk >= 0 else { return }
    let place = chunks[chunk].partitioningIndex { $0 >= key }
    guard place < chunks[chunk].count, chunks[chunk][place] == key else { return }
    chunks[chunk].remove(at: place)
    if chunks[chunk].isEmpty { chunks.remove(at: chunk) }
  }

  /// The first `limit` keys that `request` visits, in its order. Cost: two binary searches, plus the keys found.
  func keys(in request: ScanRequest, limit: Int) -> [CacheKey] {
    let (lower, upper) = request.bounds
    var found: [CacheKey] = []
    guard lower < upper else { return found }
    let first = chunks.partitioningIndex { $0[$0.count - 1].text >= lower }
    let end = chunks.partitioningIndex { $0[0].text >= upper }
    for step in 0..<max(0, end - first) {
      let chunk = chunks[request.isDescending ? end - 1 - step : first + step]
      let keys = chunk[chunk.partitioningIndex { $0.text >= lower }..<chunk.partitioningIndex { $0.text >= upper }]
      let room = limit - found.count
      if request.isDescending { found += keys.suffix(room).reversed() } else { found += keys.prefix(room) }
      if found.count == limit { break }
    }
    return found
  }
}

extension Array {
  /// The first index whose element satisfies `belongsToSecondHalf`. All elements that do must come after all that do
  /// not.
  fileprivate func partitioningIndex(where belongsToSecondHalf: (Element) -> Bool) -> Int {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = low + (high - low) / 2
      if belongsToSecondHalf(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
