internal import CLMDB
internal import StorageSPI

/// Collects the first entries of a range, ordered by full key.
struct LMDBScan {
  private let range: KeyRange
  private let limit: Int
  private let transaction: LMDBTransaction
  /// The part of the wanted prefix that every stored key of the range begins with.
  private let prefix: [UInt8]
  private var namespace = ""
  private(set) var summaries: [EntrySummary] = []

  private typealias Candidate = (key: CacheKey, value: UnsafeRawBufferPointer)

  /// Starts a scan for at most `limit` entries of `range`.
  init(_ range: KeyRange, limit: Int, _ transaction: LMDBTransaction) {
    self.range = range
    self.limit = limit
    self.transaction = transaction
    prefix = Array(range.prefix.utf8.prefix(LMDBKeyCoding.prefixSize))
  }

  /// Whether `limit` entries were found.
  var isFull: Bool { summaries.count >= limit }

  /// Scans a namespace. Visit namespaces in the order of the range.
  mutating func visit(_ database: LMDBDatabase) throws(CacheError) {
    namespace = database.namespace.name
    try transaction.withCursor(on: database.handle) { cursor throws(CacheError) in
      var item = try first(cursor)
      while let current = item, !isFull, current.key.starts(with: prefix) {
        if LMDBKeyCoding.isShortened(current.key) {
          item = try visitGroup(from: current, cursor)
        } else {
          let key = try key(current.key)
          if range.contains(key) { try append((key, current.value)) }
          item = try next(cursor)
        }
      }
    }
  }

  /// The first item that can be in the range. For a descending range that is the last one of these: the key `after`, or
  /// a group of long keys that may hold it; or if there is none, whatever begins with the prefix.
  private func first(_ cursor: borrowing LMDBCursor) throws(CacheError) -> LMDBCursor.Item? {
    var start = prefix
    var isKey = false
    if let after = range.after, after.text.hasPrefix(range.prefix) {
      start = Array(after.text.utf8.prefix(LMDBKeyCoding.prefixSize))
      isKey = after.text.utf8.count <= LMDBKeyCoding.prefixSize
    } else if let after = range.after, (after.text < range.prefix) == range.isDescending {
      return nil  // All keys of the range are on the other side.
    }
    guard range.isDescending else { return try cursor.seek(start) }
    // No byte of a key is this high.
    if !isKey { start += [UInt8](repeating: 0xFF, count: LMDBKeyCoding.shortenedSize - start.count) }
    guard let found = try cursor.seek(start) else { return try cursor.last() }
    return found.key.elementsEqual(start) ? found : try cursor.previous()
  }

  private func next(_ cursor: borrowing LMDBCursor) throws(CacheError) -> LMDBCursor.Item? {
    try range.isDescending ? cursor.previous() : cursor.next()
  }

  /// Collects the long keys that share the current key's prefix, and visits them in true order.
  ///
  /// - Returns: the item after the group.
  private mutating func visitGroup(
    from first: LMDBCursor.Item, _ cursor: borrowing LMDBCursor
  ) throws(CacheError) -> LMDBCursor.Item? {
    let prefix = first.key.prefix(LMDBKeyCoding.prefixSize)
    var group: [Candidate] = []
    var item: LMDBCursor.Item? = first
    while let (stored, value) = item, LMDBKeyCoding.isShortened(stored), stored.starts(with: prefix) {
      let key = try key(transaction.fullKey(of: value, storedAs: stored))
      if range.contains(key) { group.append((key, value)) }
      item = try next(cursor)
    }
    group.sort { range.isDescending ? $0.key > $1.key : $0.key < $1.key }
    for candidate in group.prefix(limit - summaries.count) { try append(candidate) }
    return item
  }

  private mutating func append(_ candidate: Candidate) throws(CacheError) {
    let entry = try decoding(candidate.key) { () throws(LMDBFault) in
      let entry = try LMDBEntry(candidate.value)
      return (metadata: try entry.metadata(), size: entry.payloadSize)
    }
    summaries.append(EntrySummary(key: candidate.key, metadata: entry.metadata, payloadBytes: entry.size))
  }

  /// The key with the bytes `bytes`, which must belong to the current namespace.
  private func key(_ bytes: UnsafeRawBufferPointer) throws(CacheError) -> CacheKey {
    try CacheKey(stored: bytes, namespace: namespace, path: transaction.environment.path)
  }
}

extension KeyRange {
  /// Whether keys of the namespace `name` can be in the range.
  func mayHoldKeys(of name: String) -> Bool {
    let start = name + "/"
    if let after, isDescending ? after.namespace < name : after.namespace > name { return false }
    return start.hasPrefix(prefix) || prefix.hasPrefix(start)
  }
}

extension CacheKey {
  /// The key stored in a namespace's database.
  init(stored bytes: UnsafeRawBufferPointer, namespace: String, path: String) throws(CacheError) {
    let text = String(decoding: bytes, as: UTF8.self)
    guard let key = try? CacheKey(text), key.namespace == namespace else {
      throw .lmdb(.damaged("'\(text.prefix(80))' in namespace \(namespace) is no key of it"), in: path)
    }
    self = key
  }
}
