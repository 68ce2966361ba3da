import SeededNumbers
import EngineAPI
import Testing

@testable import LMDBStorage

@Suite struct EntryCodingTests {
  static func generated(_ seed: UInt64) -> (metadata: EntryMetadata, payload: [UInt8], fullKey: String) {
    var random = SeededGenerator(seed: seed)
    let texts = ["", "etag", "\"abc\"", "é\u{1F600}", "a\0b", String(repeating: "x", count: 300)]
    let types = ["application/json", "image/png", "", "x/é", "text/html; charset=utf-8"]
    func time() -> Timestamp { Timestamp(milliseconds: Int64.random(in: 0...253_402_300_799_999, using: &random)) }
    var attributes: [String: String] = [:]
    for _ in 0..<Int.random(in: 0...4, using: &random) {
      attributes[(texts.randomElement(using: &random) ?? "") + "\(random.next() % 9)"] =
        texts.randomElement(using: &random)
    }
    let metadata = EntryMetadata(
      storedAt: time(), freshUntil: time(), retainUntil: .distantFuture,
      contentType: types.randomElement(using: &random) ?? "", attributes: attributes,
      payloadChecksum: random.next(), checksum: random.next())
    let payload = (0..<Int.random(in: 0...40, using: &random)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    return (metadata, payload, Bool.random(using: &random) ? "cities/" + String(repeating: "k", count: 600) : "")
  }

  @Test(arguments: 0..<60 as Range<UInt64>) func comesBackExactly(seed: UInt64) throws {
    let (metadata, payload, fullKey) = Self.generated(seed)
    let bytes = LMDBEntry.header(metadata, fullKey: fullKey) + payload
    try bytes.withUnsafeBytes { bytes in
      let entry = try #require(LMDBEntry(bytes))
      #expect(entry.metadata() == metadata, "seed \(seed)")
      #expect(Array(entry.payload) == payload, "seed \(seed)")
      #expect(try String(decoding: #require(entry.fullKey()), as: UTF8.self) == fullKey, "seed \(seed)")
      #expect(entry.retainUntil == metadata.retainUntil)
      #expect(entry.checksum == metadata.checksum)
    }
  }

  /// The full key, which is the rest of the header, is checked by where the entry is.
  @Test(arguments: 0..<10 as Range<UInt64>) func cutOffAnywhereIsDamage(seed: UInt64) throws {
    let metadata = Self.generated(seed).metadata
    let header = LMDBEntry.header(metadata)
    for count in 0..<header.count {
      header[..<count].withUnsafeBytes { #expect(LMDBEntry($0)?.metadata() == nil, "seed \(seed), \(count) bytes") }
    }
  }

  @Test(arguments: 0..<10 as Range<UInt64>) func anyChangedByteIsDamageOrAnotherValue(seed: UInt64) throws {
    let (metadata, payload, fullKey) = Self.generated(seed)
    let bytes = LMDBEntry.header(metadata, fullKey: fullKey) + payload
    for index in bytes.indices {
      var changed = bytes
      changed[index] ^= 0xFF
      changed.withUnsafeBytes { changed in
        guard let entry = LMDBEntry(changed), let read = entry.metadata() else { return }
        let key = entry.fullKey().map { String(decoding: $0, as: UTF8.self) }
        #expect(
          read != metadata || Array(entry.payload) != payload || key != fullKey, "seed \(seed), byte \(index)")
      }
    }
  }

  @Test func anotherVersionIsDamage() {
    for position in [0, 2, 3] {
      var bytes = LMDBEntry.header(.sample())
      bytes[position] = 2
      bytes.withUnsafeBytes { #expect(LMDBEntry($0) == nil) }
    }
  }

  @Test func knownContentTypesAreOneByte() {
    #expect(LMDBEntry.header(.sample()).count == LMDBEntry.fixedSize)
    for (index, contentType) in LMDBEntry.contentTypes.enumerated() {
      var metadata = EntryMetadata.sample()
      metadata.contentType = contentType
      let header = LMDBEntry.header(metadata)
      #expect(header.count == LMDBEntry.fixedSize && header[1] == UInt8(index + 1))
      let decoded = header.withUnsafeBytes { LMDBEntry($0)?.metadata() }
      #expect(decoded == metadata)
    }
    var header = LMDBEntry.header(.sample())
    header[1] = UInt8(LMDBEntry.contentTypes.count + 1)
    header.withUnsafeBytes { #expect(LMDBEntry($0) != nil && LMDBEntry($0)?.metadata() == nil) }
  }
}
