import EngineAPI
import Testing

@Suite struct EntryAttributesTests {
  private let attributes = ["etag": "\"1\"", "": "", "note": "é\u{0}\n", "long": String(repeating: "x", count: 70_000)]

  private func metadata(_ attributes: [String: String] = [:]) -> EntryMetadata {
    EntryMetadata(
      storedAt: .distantFuture, freshUntil: .distantFuture, retainUntil: .distantFuture, contentType: "x",
      attributes: attributes)
  }

  private func take(_ bytes: [UInt8], into metadata: inout EntryMetadata) -> Bool {
    bytes.withUnsafeBytes { metadata.setAttributes(encoded: $0) }
  }

  @Test func comeBackFromTheirBytes() {
    let stored = metadata(attributes)
    var found = metadata(["old": "1"])
    #expect(take(stored.encodedAttributes, into: &found))
    #expect(found == stored && found.attributes == attributes)
    #expect(take([], into: &found) && found == metadata())
  }

  @Test func haveTheBytesThatThePageOfTheInterfaceSays() {
    #expect(
      metadata(["b": "", "a": "é"]).encodedAttributes == Array("\u{1}\0\0\0a\u{2}\0\0\0é\u{1}\0\0\0b\0\0\0\0".utf8))
    #expect(metadata().encodedAttributes.isEmpty)
  }

  @Test func areFoundByName() {
    var stored = metadata(attributes)
    #expect(stored.attribute(named: "etag") == "\"1\"" && stored.attribute(named: "") == "")
    #expect(stored.attribute(named: "eta") == nil && metadata().attribute(named: "") == nil)
    stored.attributes["etag"] = nil
    #expect(stored.attribute(named: "etag") == nil && stored.attributes.count == 3)
  }

  @Test func otherBytesAreRefused() {
    var found = metadata(["etag": "1"])
    let whole = found.encodedAttributes
    for count in 1..<whole.count { #expect(!take(Array(whole[..<count]), into: &found), "\(count) bytes") }
    for place in [0, 3, 4, 8, 11, 12] {
      var changed = whole
      changed[place] = 0xFF
      #expect(!take(changed, into: &found), "byte \(place)")
    }
    #expect(found == metadata(["etag": "1"]))
  }
}
