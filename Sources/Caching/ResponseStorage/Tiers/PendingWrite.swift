internal import FetchVocabulary
internal import StorageSPI

/// A write that far did not take, as an entry of the store of pending writes: the entry to store, with what far must hold
/// for that in two more attributes.
struct PendingWrite: Sendable {
  /// What far must hold under the key.
  enum Base: Sendable, Hashable {
    /// Anything that was not stored later.
    case earlier
    /// What the writer required.
    case expected(WriteBatch.Expectation)
  }

  /// The names of the attributes.
  private enum Name {
    static let base = "pending-base"
    static let bounds = "pending-bounds"
    static let all = [base, bounds]
  }

  let key: CacheKey
  let base: Base
  /// The bounds of far by the writer; `nil` for none.
  let bounds: StoreBounds?
  let put: TieredChanges.Put

  init(_ key: CacheKey, base: Base, bounds: StoreBounds?, _ put: TieredChanges.Put) {
    (self.key, self.base, self.bounds, self.put) = (key, base, bounds, put)
  }

  /// The write that the entry under `key` stands for.
  ///
  /// - Throws: `CacheError` with the code `damaged` if it stands for none.
  init(_ key: CacheKey, _ payload: [UInt8], _ metadata: EntryMetadata) throws(CacheError) {
    self.key = key
    put = TieredChanges.Put(payload: payload, metadata: Self.original(metadata))
    guard let base = metadata.attributes[Name.base].flatMap({ Base(text: $0) }),
      let bounds = metadata.attributes[Name.bounds]
    else { throw CacheError(.damaged, "the pending write of \(key) cannot be read") }
    self.base = base
    self.bounds = StoreBounds(text: bounds)
  }

  /// The metadata of the entry to store, from that of the pending write.
  static func original(_ metadata: EntryMetadata) -> EntryMetadata {
    var metadata = metadata
    for name in Name.all { metadata.attributes[name] = nil }
    return metadata
  }

  /// The metadata of the pending write.
  var metadata: EntryMetadata {
    var metadata = put.metadata
    metadata.attributes[Name.base] = base.text
    metadata.attributes[Name.bounds] = bounds?.text ?? ""
    return metadata
  }
}

extension PendingWrite.Base {
  var text: String {
    switch self {
    case .earlier: "earlier"
    case .expected(.absent): "absent"
    case .expected(.checksum(let checksum)): Hexadecimal.text(checksum)
    }
  }

  init?(text: String) {
    switch text {
    case "earlier": self = .earlier
    case "absent": self = .expected(.absent)
    default:
      guard let checksum: UInt64 = Hexadecimal.number(text.utf8) else { return nil }
      self = .expected(.checksum(checksum))
    }
  }
}

extension StoreBounds {
  /// The bounds as text, without the exempt namespace, which is always that of leases.
  fileprivate var text: String { "\(maxEntries) \(maxPayloadBytes)" }

  fileprivate init?(text: String) {
    let numbers = text.split(separator: " ").compactMap { Int($0) }
    guard numbers.count == 2, numbers.allSatisfy({ $0 > 0 }) else { return nil }
    self.init(maxEntries: numbers[0], maxPayloadBytes: numbers[1], exemptNamespace: Lease.namespace)
  }
}
