internal import CLMDB
internal import StorageSPI

/// Collects the first entries of a range, ordered by full key.
struct LMDBScan {
  private let range: KeyRange
  private let limit: Int
  private let transaction: LMDBTransaction
  private var namespace = ""
  private(set) var summaries: [EntrySummary] = []

  private typealias Candidate = (key: CacheKey, value: UnsafeRawBufferPointer)

  /// Starts a scan for at most `limit` entries of `range`.
  init(_ range: KeyRange, limit: Int, _ transaction: LMDBTransaction) {
    (self.range, self.limit, self.transaction) = (range, limit, transaction)
  }

  /// Whether the current namespace can hold keys of the range.
  private var mayHoldKeys: Bool {
    let start = namespace + "/"
    if let after = range.after, after.namespace > namespace { return false }
    return start.hasPrefix(range.prefix) || range.prefix.hasPrefix(start)
  }

  /// Whether `limit` entries were found.
  var isFull: Bool { summaries.count >= limit }

  /// Scans a namespace. Visit namespaces in order.
  mutating func visit(_ namespace: LMDBNamespace) throws(CacheError) {
    self.namespace = namespace.name
    guard mayHoldKeys, var walk = try transaction.walk(through: namespace) else { return }
    let start = Array(max(range.prefix, range.after?.text ?? "").utf8.prefix(LMDBKeyCoding.prefixSize))
    var item = try start.span.withUnsafeBytes { start throws(CacheError) in try walk.seek(start) }
    while let current = item, mayBeInRange(current.key) {
      if LMDBKeyCoding.isShortened(current.key) {
        item = try visitGroup(from: current, &walk)
        if isFull { return }
      } else {
        let key = try key(current.key)
        if range.contains(key) { try append((key, current.value)) }
        if isFull { return }
        item = try walk.next()
      }
    }
  }

  /// Collects the long keys that share the current key's prefix, and visits them in true order.
  ///
  /// - Returns: the item after the group.
  private mutating func visitGroup(
    from first: LMDBTreeWalk.Item, _ walk: inout LMDBTreeWalk
  ) throws(CacheError) -> LMDBTreeWalk.Item? {
    let prefix = first.key.prefix(LMDBKeyCoding.prefixSize)
    var group: [Candidate] = []
    var item: LMDBTreeWalk.Item? = first
    while let (stored, value) = item, LMDBKeyCoding.isShortened(stored), stored.starts(with: prefix) {
      let key = try key(transaction.fullKey(of: value, storedAs: stored))
      if range.contains(key) { group.append((key, value)) }
      item = try walk.next()
    }
    group.sort { $0.key < $1.key }
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

  /// Whether a stored key can still have the wanted prefix.
  private func mayBeInRange(_ stored: UnsafeRawBufferPointer) -> Bool {
    let known = stored.prefix(LMDBKeyCoding.prefixSize)
    let prefix = range.prefix.utf8
    return known.count < prefix.count
      ? prefix.starts(with: known) || known.lexicographicallyPrecedes(prefix) : known.starts(with: prefix)
  }

  /// The key with the bytes `bytes`, which must belong to the current namespace.
  private func key(_ bytes: UnsafeRawBufferPointer) throws(CacheError) -> CacheKey {
    try CacheKey(stored: bytes, namespace: namespace, path: transaction.environment.path)
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
