import EngineAPI
import SeededNumbers
import Testing

@Suite struct EncodedEntryTests {
  private static func generated(_ seed: UInt64) -> (metadata: EntryMetadata, payload: [UInt8], key: String) {
    var random = SeededGenerator(seed: seed)
    let texts = ["", "etag", "\"abc\"", "é\u{1F600}", "a\0b", String(repeating: "x", count: 300)]
    let types = ["application/json", "image/png", "", "x/é", "text/html; charset=utf-8"]
    func time() -> Timestamp { Timestamp(milliseconds: Int64.random(in: 0...253_402_300_799_999, using: &random)) }
    var attributes: [String: String] = [:]
    for _ in 0..<Int.random(in: 0...4, using: &random) {
      attributes[random.pick(texts) + "\(random.next() % 9)"] = random.pick(texts)
    }
    let metadata = EntryMetadata(
      storedAt: time(), freshUntil: time(), retainUntil: random.isOne(in: 2) ? .distantFuture : time(),
      contentType: random.pick(types), attributes: attributes, payloadChecksum: random.next(), checksum: random.next())
    let payload = (0..<Int.random(in: 0...40, using: &random)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    return (metadata, payload, random.isOne(in: 2) ? "cities/" + String(repeating: "k", count: 600) : "")
  }

  private static let sample = EntryMetadata(
    storedAt: Timestamp(milliseconds: 1), freshUntil: Timestamp(milliseconds: 0x0203), retainUntil: .distantFuture,
    contentType: "x/é", attributes: ["b": "1", "a": ""], payloadChecksum: 0x0102_0304_0506_0708, checksum: .max - 1)

  private func metadata(_ bytes: [UInt8]) -> EntryMetadata? { EntryMetadata(encoded: bytes.span.bytes) }

  /// Stores contain these bytes: they change only with the version.
  @Test func theLayoutIsTheDocumentedOne() {
    let fixed: [[UInt8]] = [
      [1, 0, 0, 0, 79, 0, 0, 0], [1, 0, 0, 0, 0, 0, 0, 0], [3, 2, 0, 0, 0, 0, 0, 0],
      [0xFF, 0xDB, 0x1F, 0xD2, 0x77, 0xE6, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1],
      [0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [19, 0, 0, 0],
    ]
    let rest = Array("\u{4}\0\0\0x/é\u{1}\0\0\0a\0\0\0\0\u{1}\0\0\0b\u{1}\0\0\0\u{31}".utf8)
    #expect(Self.sample.encoded() == fixed.flatMap(\.self) + rest)
  }

  @Test(
    arguments: zip(
      1...11,
      [
        "application/json", "image/jpeg", "image/png", "image/webp", "text/plain", "application/octet-stream",
        "text/html", "application/json; charset=utf-8", "application/json;charset=utf-8", "text/plain; charset=utf-8",
        "text/html; charset=utf-8",
      ]))
  func aKnownContentTypeIsOneByte(code: Int, contentType: String) {
    var stored = Self.sample
    (stored.contentType, stored.attributes) = (contentType, [:])
    let bytes = stored.encoded()
    #expect(bytes.count == 52 && Int(bytes[1]) == code)
    #expect(metadata(bytes) == stored)
  }

  @Test(arguments: 0..<60 as Range<UInt64>) func comesBackExactly(seed: UInt64) throws {
    let (stored, payload, key) = Self.generated(seed)
    #expect(metadata(stored.encoded()) == stored)
    try (stored.encoded(key: key) + payload).withUnsafeBytes { bytes in
      let entry = try #require(EncodedEntry(bytes))
      #expect(entry.metadata() == stored)
      #expect(Array(entry.payload) == payload && entry.payloadSize == payload.count)
      #expect(try String(decoding: #require(entry.key()), as: UTF8.self) == key)
      #expect(entry.retainUntil == stored.retainUntil)
      #expect(entry.checksum == stored.checksum)
    }
  }

  @Test(arguments: 0..<10 as Range<UInt64>) func cutOffAnywhereOrLongerIsDamage(seed: UInt64) {
    let stored = Self.generated(seed).metadata
    let bytes = stored.encoded()
    for count in 0..<bytes.count {
      #expect(metadata(Array(bytes[..<count])) == nil, "\(count) bytes")
      bytes[..<count].withUnsafeBytes { #expect(EncodedEntry($0)?.metadata() == nil, "\(count) bytes") }
    }
    #expect(metadata(bytes + [0]) == nil && metadata(stored.encoded(key: "cities/a")) == nil)
  }

  @Test(arguments: 0..<10 as Range<UInt64>) func anyChangedByteIsDamageOrAnotherValue(seed: UInt64) {
    let (stored, payload, key) = Self.generated(seed)
    let bytes = stored.encoded(key: key) + payload
    for index in bytes.indices {
      var changed = bytes
      changed[index] ^= 0xFF
      changed.withUnsafeBytes { changed in
        guard let entry = EncodedEntry(changed), let read = entry.metadata() else { return }
        let readKey = entry.key().map { String(decoding: $0, as: UTF8.self) }
        #expect(read != stored || Array(entry.payload) != payload || readKey != key, "byte \(index)")
      }
    }
  }

  /// If other bytes can be metadata, writing it gives the same bytes again: nothing in them was misread or left out.
  @Test(arguments: Thoroughness.seeds(200, of: 20_000)) func randomBytesAreReadExactlyOrRefused(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var bytes = Self.generated(seed).metadata.encoded()
    for _ in 0..<20 {
      let start = Int.random(in: bytes.indices, using: &random)
      // Mostly small numbers, as in the sizes.
      let limit: UInt64 = random.isOne(in: 2) ? 256 : 4
      for index in start..<min(start + Int.random(in: 1...8, using: &random), bytes.count) {
        bytes[index] = UInt8(random.next() % limit)
      }
      if let read = metadata(bytes) { #expect(read.encoded() == bytes) }
      let noise = (0..<Int.random(in: 0...200, using: &random)).map { _ in UInt8(random.next() % limit) }
      if let read = metadata(noise) { #expect(read.encoded() == noise) }
    }
  }

  @Test(arguments: [(0, 0), (0, 2), (1, 12), (2, 1), (3, 1), (4, 51), (7, 1), (15, 0x80), (15, 1), (51, 1)])
  func aNumberThatCannotBeIsDamage(place: Int, byte: UInt8) {
    var stored = Self.sample
    stored.contentType = "image/png"
    var bytes = stored.encoded()
    bytes[place] = byte
    #expect(metadata(bytes) == nil)
    bytes.withUnsafeBytes { #expect(EncodedEntry($0)?.metadata() == nil) }
  }
}
