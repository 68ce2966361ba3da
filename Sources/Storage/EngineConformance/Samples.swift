internal import EngineAPI

/// An entry, as an engine stores and returns it.
typealias Entry = EntryTable.Entry

/// Keys, metadata and payloads: the one place that makes them.
enum Sample {
  /// 2100-01-01T00:00:00.123Z, the start of each check's clock: so late that a server with its own clock expires no entry
  /// during a check.
  static let start = Timestamp(milliseconds: 4_102_444_800_123)

  /// An hour, for which an ordinary entry is kept.
  static let hour = 3_600

  /// Ordinary metadata: stored at the start, fresh for a minute.
  static func metadata(_ checksum: UInt64 = 1, seconds: Int = hour) -> EntryMetadata {
    EntryMetadata(
      storedAt: start, freshUntil: start.advanced(by: .seconds(60)), retainUntil: start.advanced(by: .seconds(seconds)),
      contentType: "type/\(checksum % 7)", attributes: ["etag": "\"\(checksum)\""], payloadChecksum: ~checksum,
      checksum: checksum)
  }

  /// An ordinary entry; its payload and checksums depend on `number`. By default the payload is a short text.
  static func entry(_ number: Int = 1, size: Int? = nil, seconds: Int = hour) -> Entry {
    let text = Array("{\"number\":\(number)}".utf8)
    let payload = size.map { Self.payload(count: $0, repeating: text) } ?? text
    return Entry(payload: payload, metadata: metadata(UInt64(number), seconds: seconds))
  }

  /// A key of exactly `length` bytes, ending in `suffix`.
  static func key(length: Int, namespace: String = "cities", suffix: String = "") throws -> CacheKey {
    let padding = length - namespace.utf8.count - 1 - suffix.utf8.count
    return try CacheKey("\(namespace)/" + String(repeating: "k", count: padding) + suffix)
  }

  /// `count` keys in order.
  static func keys(_ count: Int, namespace: String = "cities") throws -> [CacheKey] {
    try (0..<count).map { try CacheKey("\(namespace)/v1/\(10_000 + $0)") }
  }

  /// A payload of exactly `count` bytes: `block` repeated, with the position every 4,096 bytes, so that no two
  /// stretches are equal. It costs a few copies of memory, even without optimization.
  static func payload(count: Int, repeating block: [UInt8]) -> [UInt8] {
    var bytes = block
    while bytes.count < count { bytes += bytes }
    bytes.removeLast(bytes.count - count)
    for offset in stride(from: 0, to: count - 8, by: 4_096) {
      for (place, digit) in "\(100_000 + offset / 4_096)".utf8.enumerated() { bytes[offset + place] = digit }
    }
    return bytes
  }
}

extension SeededGenerator {
  /// A generator that depends only on `seed` and `name`, so that a check sees the same numbers alone as among others.
  init(seed: UInt64, name: String) { self.init(seed: seed ^ FNV1a.hash(name.utf8)) }

  /// Whether an event with a probability of `percent` in a hundred happens.
  mutating func happens(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }

  /// `count` random bytes.
  mutating func bytes(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + 7)
    while bytes.count < count { withUnsafeBytes(of: next()) { bytes += $0 } }
    return Array(bytes.prefix(count))
  }
}

extension StorageEngine {
  /// A copy of the entry under `key`; `nil` if there is none.
  func entry(_ key: CacheKey) async throws(CacheError) -> Entry? {
    try await read(key) { bytes, metadata throws(CacheError) in
      Entry(payload: bytes.withUnsafeBufferPointer { Array($0) }, metadata: metadata)
    }
  }

  /// Stores `entry` under each of `keys` in one batch.
  func put(_ keys: CacheKey..., entry: Entry) async throws(CacheError) {
    try await put(keys.map { ($0, entry) })
  }

  /// Stores `entries` in one batch.
  func put(_ entries: [(CacheKey, Entry)]) async throws(CacheError) {
    var batch = WriteBatch()
    for (key, entry) in entries { batch.put(key, payload: entry.payload, metadata: entry.metadata) }
    try await apply(batch)
  }

  /// Removes the entry under `key`, in its own batch.
  func remove(_ key: CacheKey) async throws(CacheError) {
    var batch = WriteBatch()
    batch.remove(key)
    try await apply(batch)
  }
}

extension CacheKey {
  /// The key for messages: a long one is shown as its beginning and its length.
  var abbreviated: String {
    let count = text.utf8.count
    return count <= 80 ? text : "\(text.prefix(40))...\(text.suffix(20)) (\(count) bytes)"
  }
}
