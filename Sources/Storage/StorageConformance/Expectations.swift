internal import EngineSupport
internal import StorageSPI

/// Throws a failure with `message` unless `condition` holds.
func expect(_ condition: Bool, _ message: @autoclosure () -> String) throws {
  guard condition else { throw ConformanceFailure(message()) }
}

/// Throws a failure about `what` unless `got` equals `expected`.
func expectEqual<Value: Equatable>(_ got: Value, _ expected: Value, _ what: @autoclosure () -> String) throws {
  guard got == expected else { throw ConformanceFailure("\(what()): expected \(expected), got \(got)") }
}

/// Throws a failure unless `body` throws an error with the code `code`.
func expectError(
  _ code: CacheError.Code, _ what: @autoclosure () -> String, _ body: () async throws -> Void
) async throws {
  do {
    try await body()
  } catch let error as CacheError {
    guard error.code == code else {
      throw ConformanceFailure("\(what()): expected the error \(code.rawValue), got \(error.description)")
    }
    return
  }
  throw ConformanceFailure("\(what()): expected the error \(code.rawValue), got none")
}

/// Throws a failure unless `got` equals `expected`, byte by byte and field by field.
func expectEqual(_ got: Entry?, _ expected: Entry?, at key: CacheKey) throws {
  let name = key.abbreviated
  guard let expected else {
    return try expect(got == nil, "\(name): expected no entry, got one with checksum \(got?.metadata.checksum ?? 0)")
  }
  guard let got else { throw ConformanceFailure("\(name): expected an entry, got nil") }
  if let difference = PayloadDifference(got: got.payload, expected: expected.payload) {
    throw ConformanceFailure("\(name): \(difference)")
  }
  try expectEqual(got.metadata, expected.metadata, at: key)
}

/// Throws a failure that names the field unless `got` equals `expected`.
func expectEqual(_ got: EntryMetadata, _ expected: EntryMetadata, at key: CacheKey) throws {
  let name = key.abbreviated
  try expectEqual(got.storedAt.milliseconds, expected.storedAt.milliseconds, "\(name): storedAt")
  try expectEqual(got.freshUntil.milliseconds, expected.freshUntil.milliseconds, "\(name): freshUntil")
  try expectEqual(got.retainUntil.milliseconds, expected.retainUntil.milliseconds, "\(name): retainUntil")
  try expectIdentical(got.contentType, expected.contentType, "\(name): contentType")
  try expectEqual(got.payloadChecksum, expected.payloadChecksum, "\(name): payloadChecksum")
  try expectEqual(got.checksum, expected.checksum, "\(name): checksum")
  try expectEqual(got.attributes.count, expected.attributes.count, "\(name): number of attributes")
  for (attribute, value) in expected.attributes {
    guard let index = got.attributes.index(forKey: attribute) else {
      throw ConformanceFailure("\(name): attribute \(attribute.debugDescription) is missing")
    }
    try expectIdentical(got.attributes[index].key, attribute, "\(name): name of an attribute")
    try expectIdentical(got.attributes[index].value, value, "\(name): attribute \(attribute.debugDescription)")
  }
}

/// Compares texts by their bytes: `==` treats a composed and a decomposed letter as equal.
private func expectIdentical(_ got: String, _ expected: String, _ what: @autoclosure () -> String) throws {
  guard !got.utf8.elementsEqual(expected.utf8) else { return }
  throw ConformanceFailure("\(what()): expected \(expected.utf8Description), got \(got.utf8Description)")
}

extension String {
  fileprivate var utf8Description: String { "\(prefix(80).debugDescription) (\(utf8.count) bytes)" }
}

extension CacheKey {
  /// The key for messages: a long one is shown as its beginning and its length.
  var abbreviated: String {
    let count = text.utf8.count
    return count <= 80 ? text : "\(text.prefix(40))...\(text.suffix(20)) (\(count) bytes)"
  }
}

/// The difference between two payloads.
struct PayloadDifference: CustomStringConvertible {
  /// The expected and the actual bytes, in one line.
  let description: String

  /// The first difference of `got` from `expected`; `nil` if they are equal.
  ///
  /// Payloads are compared by hash, which the standard library computes fast even in a build without optimisation.
  /// Cost: a pass over the bytes; if they differ, two more to find the place.
  init?(got: [UInt8], expected: [UInt8]) {
    let shared = min(got.count, expected.count)
    let isPrefix = Self.hash(got[..<shared]) == Self.hash(expected[..<shared])
    if isPrefix, got.count == expected.count { return nil }
    let offset = isPrefix ? shared : Self.firstDifference(got, expected, in: 0..<shared)
    let (gotByte, expectedByte) = (got.dropFirst(offset).first, expected.dropFirst(offset).first)
    description =
      "payload: expected \(expected.count) bytes, got \(got.count); at offset \(offset) expected "
      + "\(expectedByte.map(String.init) ?? "the end"), got \(gotByte.map(String.init) ?? "the end")"
  }

  /// The first position in `range`, which contains a difference, at which the two differ.
  private static func firstDifference(_ got: [UInt8], _ expected: [UInt8], in range: Range<Int>) -> Int {
    var range = range
    while range.count > 1 {
      let half = range.lowerBound..<(range.lowerBound + range.count / 2)
      range = hash(got[half]) == hash(expected[half]) ? half.upperBound..<range.upperBound : half
    }
    return range.lowerBound
  }

  private static func hash(_ bytes: ArraySlice<UInt8>) -> Int {
    var hasher = Hasher()
    bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
    return hasher.finalize()
  }
}

extension StorageEngine {
  /// A copy of the entry under `key`; `nil` if there is none.
  func entry(_ key: CacheKey) async throws(CacheError) -> Entry? {
    try await read(key) { bytes, metadata throws(CacheError) in
      Entry(payload: bytes.withUnsafeBufferPointer { Array($0) }, metadata: metadata)
    }
  }

  /// Stores `entry` under `key`, in a batch of its own.
  func put(_ key: CacheKey, _ entry: Entry) async throws(CacheError) {
    try await put([(key, entry)])
  }

  /// Stores all `entries` in one batch.
  func put(_ entries: [(key: CacheKey, entry: Entry)]) async throws(CacheError) {
    var batch = WriteBatch()
    for (key, entry) in entries { batch.put(key, entry) }
    try await apply(batch)
  }

  /// Removes the entry under `key`, in a batch of its own.
  func remove(_ key: CacheKey) async throws(CacheError) {
    var batch = WriteBatch()
    batch.remove(key)
    try await apply(batch)
  }

  /// All entries of the store, each once, in the order of their keys if the engine gives them in that order.
  func scanAll(prefix: String = "", after: CacheKey? = nil) async throws(CacheError) -> [ScannedEntry] {
    var request = ScanRequest(prefix: prefix, after: after?.text)
    var found: [ScannedEntry] = []
    var seen: Set<CacheKey> = []
    repeat {
      let page = try await scan(request)
      found += page.entries.filter { seen.insert($0.key).inserted }
      request.position = page.next
    } while request.position != nil
    return found
  }

  /// Throws a failure unless the store contains exactly `entries`, by scan, by read and by count.
  func expectHolds(_ entries: [CacheKey: Entry]) async throws {
    let keys = entries.keys.sorted()
    let found = try await scanAll().sorted { $0.key < $1.key }
    try expectKeys(found, keys, "a scan of everything")
    for summary in found {
      guard let expected = entries[summary.key] else { continue }
      try expectEqual(summary.metadata, expected.metadata, at: summary.key)
      try expectEqual(summary.payloadBytes, expected.payload.count, "\(summary.key.abbreviated): payloadBytes")
    }
    for key in keys { try expectEqual(try await entry(key), entries[key], at: key) }
    try await expectStatistics(entries)
  }

  /// Throws a failure unless the engine counts exactly `entries`.
  func expectStatistics(_ entries: [CacheKey: Entry]) async throws {
    var expected = StoreCount()
    for (key, entry) in entries {
      expected[key.namespace].add(payloadBytes: entry.payload.count, retainUntil: entry.metadata.retainUntil)
    }
    let got = try await count()
    try expectEqual(got.summaries, expected.summaries, "the count")
    for (namespace, count) in expected.namespaces {
      try expect(
        got[namespace].earliestExpiry <= count.earliestExpiry,
        "\(namespace): an entry expires before earliestExpiry of the count")
    }
  }
}

extension WriteBatch {
  /// Adds an operation that stores `entry` under `key`.
  mutating func put(_ key: CacheKey, _ entry: Entry) {
    put(key, payload: entry.payload, metadata: entry.metadata)
  }
}

/// Throws a failure with the first difference unless `summaries` have exactly `keys`, in order.
func expectKeys(_ summaries: [ScannedEntry], _ keys: [CacheKey], _ what: @autoclosure () -> String) throws {
  let got = summaries.map(\.key)
  guard got != keys else { return }
  let position =
    zip(got, keys).enumerated().first { $0.element.0 != $0.element.1 }?.offset ?? min(got.count, keys.count)
  let (expectedKey, gotKey) = (keys.dropFirst(position).first, got.dropFirst(position).first)
  throw ConformanceFailure(
    "\(what()): expected \(keys.count) keys, got \(got.count); at position \(position) expected "
      + "\(expectedKey?.abbreviated ?? "the end"), got \(gotKey?.abbreviated ?? "the end")")
}

extension StoreCount {
  fileprivate var summaries: [String] {
    namespaces.map { "\($0): \($1.entries) entries, \($1.payloadBytes) bytes" }.sorted()
  }
}

/// An entry, as an engine stores and returns it.
typealias Entry = EntryTable.Entry

/// Keys, metadata and payloads for checks to which the details do not matter.
enum Sample {
  /// 2100-01-01T00:00:00Z, the start of each check's clock: so late that a server with its own clock expires no entry
  /// during a check.
  static let start = Timestamp(milliseconds: 4_102_444_800_000)

  /// Ordinary metadata: stored at the start, fresh for a minute, retained for an hour.
  static func metadata(checksum: UInt64 = 1, retainedFor retention: Duration = .seconds(3_600)) -> EntryMetadata {
    EntryMetadata(
      storedAt: start, freshUntil: start.advanced(by: .seconds(60)), retainUntil: start.advanced(by: retention),
      contentType: "application/json", attributes: ["etag": "\"\(checksum)\""],
      payloadChecksum: ~checksum, checksum: checksum)
  }

  /// An ordinary entry; its payload and checksum depend on `number`.
  static func entry(_ number: Int = 1, retainedFor retention: Duration = .seconds(3_600)) -> Entry {
    let payload = Array("{\"number\":\(number)}".utf8)
    return Entry(payload: payload, metadata: metadata(checksum: UInt64(number), retainedFor: retention))
  }

  /// A key of exactly `length` bytes, ending in `suffix`.
  static func key(length: Int, namespace: String = "cities", suffix: String = "") throws -> CacheKey {
    let padding = length - namespace.utf8.count - 1 - suffix.utf8.count
    return try CacheKey("\(namespace)/" + String(repeating: "k", count: padding) + suffix)
  }

  /// `count` keys in order, in the namespace `namespace`.
  static func keys(_ count: Int, namespace: String = "cities") throws -> [CacheKey] {
    try (0..<count).map { number in
      let digits = String(number)
      return try CacheKey("\(namespace)/v1/\(String(repeating: "0", count: 5 - digits.count))\(digits)")
    }
  }

  /// A payload of exactly `count` bytes: `block` repeated, with the position every 4,096 bytes, so that no two
  /// stretches are equal. It costs a few copies of memory, even without optimisation.
  static func payload(count: Int, repeating block: [UInt8]) -> [UInt8] {
    var bytes = block
    while bytes.count < count { bytes += bytes }
    bytes.removeLast(bytes.count - count)
    bytes.withUnsafeMutableBufferPointer { bytes in
      for offset in stride(from: 0, to: count - 8, by: 4_096) {
        var rest = 100_000 + offset / 4_096
        for place in (0..<6).reversed() {
          bytes[offset + place] = UInt8(ascii: "0") + UInt8(rest % 10)
          rest /= 10
        }
      }
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
    bytes.reserveCapacity(count)
    while bytes.count < count {
      let word = next()
      for shift in stride(from: 0, to: min(8, count - bytes.count) * 8, by: 8) {
        bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(shift)))
      }
    }
    return bytes
  }
}
