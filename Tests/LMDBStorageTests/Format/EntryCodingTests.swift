import SeededNumbers
import StorageSPI
import Testing

@testable import LMDBStorage

@Suite struct EntryCodingTests {
  static func generated(_ seed: UInt64) -> (metadata: EntryMetadata, payload: [UInt8], fullKey: String?) {
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
      contentType: types.randomElement(using: &random) ?? "", attributes: attributes, checksum: random.next())
    let payload = (0..<Int.random(in: 0...40, using: &random)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    return (metadata, payload, Bool.random(using: &random) ? "cities/" + String(repeating: "k", count: 600) : nil)
  }

  @Test(arguments: 0..<200 as Range<UInt64>) func comesBackExactly(seed: UInt64) throws {
    let (metadata, payload, fullKey) = Self.generated(seed)
    let bytes = LMDBEntryHeader(metadata, fullKey: fullKey).bytes + payload
    try bytes.withUnsafeBytes { bytes in
      let entry = try LMDBEntry(bytes)
      #expect(try entry.metadata() == metadata, "seed \(seed)")
      #expect(Array(entry.payload) == payload, "seed \(seed)")
      #expect(try entry.fullKey().map { String(decoding: $0, as: UTF8.self) } == fullKey, "seed \(seed)")
      #expect(try entry.retainUntil() == metadata.retainUntil)
      #expect(entry.checksum == metadata.checksum)
    }
  }

  @Test(arguments: 0..<40 as Range<UInt64>) func cutOffAnywhereIsDamage(seed: UInt64) throws {
    let (metadata, _, fullKey) = Self.generated(seed)
    let header = LMDBEntryHeader(metadata, fullKey: fullKey).bytes
    for count in 0..<header.count {
      header[..<count].withUnsafeBytes { bytes in
        _ = #expect(throws: LMDBFault.self, "seed \(seed), \(count) bytes") { try LMDBEntry(bytes).metadata() }
      }
    }
  }

  @Test(arguments: 0..<40 as Range<UInt64>) func anyChangedByteIsDamageOrAnotherValue(seed: UInt64) throws {
    let (metadata, payload, fullKey) = Self.generated(seed)
    let bytes = LMDBEntryHeader(metadata, fullKey: fullKey).bytes + payload
    for index in bytes.indices {
      var changed = bytes
      changed[index] ^= 0xFF
      changed.withUnsafeBytes { changed in
        guard let entry = try? LMDBEntry(changed), let read = try? entry.metadata() else { return }
        let key = try? entry.fullKey().map { String(decoding: $0, as: UTF8.self) }
        #expect(
          read != metadata || Array(entry.payload) != payload || key != fullKey, "seed \(seed), byte \(index)")
      }
    }
  }

  @Test func anotherVersionIsDamage() {
    var bytes = LMDBEntryHeader(.sample()).bytes
    bytes[0] = 2
    bytes.withUnsafeBytes { bytes in
      _ = #expect(throws: LMDBFault.damaged("its version is 2")) { try LMDBEntry(bytes) }
    }
  }

  @Test func knownContentTypesAreOneByte() {
    #expect(LMDBEntryHeader(.sample()).bytes.count == LMDBEntryCoding.fixedSize)
    for code in 1...LMDBContentType.lastCode {
      #expect(LMDBContentType.text(of: code).map(LMDBContentType.code(of:)) == code)
    }
    #expect(LMDBContentType.text(of: LMDBContentType.lastCode + 1) == nil)
    #expect(LMDBContentType.code(of: "application/jsonx") == 0)
  }

  /// The test vectors of the hash's authors.
  @Test(arguments: [
    ("", 0xCBF2_9CE4_8422_2325 as UInt64), ("a", 0xAF63_DC4C_8601_EC8C), ("foobar", 0x8594_4171_F739_67E8),
  ])
  func hashIsFNV1a(text: String, expected: UInt64) {
    #expect(Array(text.utf8).withUnsafeBytes { FNV1a.hash($0) } == expected)
  }
}
