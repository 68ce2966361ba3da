import EngineAPI
import Foundation
import Testing

@testable import PlistStorage

@Suite struct FormatTests {
  /// Payloads, and whether they are kept as text.
  static let payloads: [(bytes: [UInt8], isText: Bool)] = [
    ([], true), (Array("plain".utf8), true), (Array("{\"a\": \"\\u0000\"}\r\n\t".utf8), true), ([0], true),
    (Array(0...0x7F), true), (Array("\u{2028}\u{2029}\u{85}".utf8), true),
    (Array("e\u{301} \u{E9} \u{1E9B}\u{323}".utf8), true),
    ([0xEF, 0xBB, 0xBF] + Array("with a byte order mark".utf8), true),
    (Array("\u{FFFF}\u{10FFFF}\u{1F600}".utf8), true),
    (Array("</script> / \\/ \\\\".utf8), true), ([0xED, 0xA0, 0x80], false), ([0xC0, 0x80], false), ([0xFF], false),
    (Array(0...0xFF), false), ([0xE2, 0x80], false), ([0xF4, 0x90, 0x80, 0x80], false), ([0x80], false),
  ]

  @Test(arguments: payloads)
  func payloadsComeBackExactly(bytes: [UInt8], isText: Bool) throws {
    let key = try CacheKey("a/1")
    let table = EntryTable([key: EntryTable.Entry(payload: bytes, metadata: .sample(.max))])
    let content = PlistFormat.encode(table, namespace: "a")
    #expect(String(decoding: content, as: UTF8.self).contains("\"payload\": ") == isText)
    #expect(try PlistFormat.decode(content, namespace: "a", path: "a.json").entries == table.entries)
  }

  @Test(arguments: [0, 1, 951_782_400_000, 951_868_799_999, 1_709_164_800_123, 4_107_542_400_000, .max] as [Int64])
  func metadataComesBackExactly(milliseconds: Int64) throws {
    let time = Timestamp(milliseconds: milliseconds)
    let metadata = EntryMetadata(
      storedAt: time, freshUntil: time, retainUntil: time, contentType: "\u{1B}\u{7F}é",
      attributes: ["": "", "e\u{301}": "\u{0}", "\"": "\\"], payloadChecksum: .max - 1,
      checksum: UInt64(bitPattern: milliseconds))
    let table = EntryTable([try CacheKey("a/1"): EntryTable.Entry(payload: [1], metadata: metadata)])
    let content = PlistFormat.encode(table, namespace: "a")
    let found = try PlistFormat.decode(content, namespace: "a", path: "a.json")
    let read = try #require(found[try CacheKey("a/1")]?.metadata)
    #expect(read == metadata)
    #expect(read.attributes.keys.map { Array($0.utf8) }.contains([0x65, 0xCC, 0x81]))
  }

  @Test func filesOfOtherToolsAreRead() throws {
    let text = """
      \u{20}{"entries":{"a/1":{"payload":"\\u00e9\\ud83d\\ude00\\/\\b\\f","checksum":"00000000000000FF","payloadChecksum":"00000000000000fE","contentType":"",
      "retainUntil":"1970-01-01T00:00:00.000Z","freshUntil":"1970-01-01T00:00:00.000Z",\t
      "storedAt":"1970-01-01T00:00:00.000Z","attributes":{}}},"namespace":"a","format":1}
      """
    let table = try PlistFormat.decode(Array(text.utf8), namespace: "a", path: "a.json")
    let entry = try #require(table[try CacheKey("a/1")])
    #expect(entry.payload == Array("é😀/\u{8}\u{C}".utf8))
    #expect(entry.metadata.checksum == 255)
    #expect(entry.metadata.payloadChecksum == 254)
  }

  @Test(arguments: [
    ("", "line 1, column 1: expected '{', found the end of the text"),
    ("{", "line 1, column 2: expected a key in double quotes"), ("[]", "expected '{', found '['"),
    ("{}", "'format' is missing"), ("{\"format\": 1,\n \"x\": 1}", "line 2, column 6: \"x\" is unknown"),
    ("{\"format\": 0}", "format version 0 does not exist"), ("{\"format\": -1}", "format version -1 does not exist"),
    ("{\"format\": 1, \"format\": 1}", "line 1, column 15: the key \"format\" occurs twice"),
    ("{\"format\": 2}", "format version 2 does not exist"),
    ("{\"format\": 1, \"namespace\": \"b\"}", "\"b\" is not the namespace of the file"),
    ("{\"format\": 1, \"namespace\": \"a\", \"entries\": {}} x", "expected the end of the text, found 'x'"),
    ("{\"namespace\": \"\\ud800\"}", "expected a pair of surrogates, found half of one"),
    ("{\"namespace\": \"\\ud800\\u0041\"}", "found half of one"), ("{\"namespace\": \"\\udc00\"}", "found half of one"),
    ("{\"namespace\": \"\\x\"}", "behind '\\', found 'x'"),
    ("{\"namespace\": \"\n\"}", "expected no control character inside a text"),
    ("{\"namespace\": \"a", "expected a closing '\"', found the end of the text"),
    ("{\"namespace\": \"a\\", "behind '\\', found the end of the text"),
    ("{\"entries\": {\"b/1\": {}}}", "\"b/1\" is not a key of the namespace"),
    ("{\"entries\": {\"A\": {}}}", "\"A\" is not a key of the namespace"),
    ("{\"entries\": {\"a/1\": {}}}", "an entry lacks a field"),
    ("{\"entries\": {\"a/1\": {\"y\": 1}}}", "\"y\" is unknown"),
    ("{\"entries\": {\"a/1\": {\"checksum\": \"ff\"}}}", "is not a checksum"),
    ("{\"entries\": {\"a/1\": {\"storedAt\": \"ff\"}}}", "is not a time like"),
    ("{\"entries\": {\"a/1\": {\"payloadBase64\": \"A=B\"}}}", "not valid base64"),
    ("{\"entries\": {\"a/1\": {\"payload\": \"\", \"payloadBase64\": \"\"}}}", "there are two payloads"),
  ])
  func damageIsNamedWithItsPlace(text: String, message: String) throws {
    let error = #expect(throws: CacheError.self) {
      try PlistFormat.decode(Array(text.utf8), namespace: "a", path: "a.json")
    }
    #expect(error?.code == .damaged)
    #expect(try #require(error).message.contains(message), "\(error?.message ?? "")")
  }

  @Test(arguments: ["999999999999999999999999", "1.5", "1e2", "-1", "0x1", "01", "\"1\"", "null", "1 2", "+1", ""])
  func aVersionIsAWholeNumber(text: String) {
    let content = Array("{\"format\": \(text), \"namespace\": \"a\", \"entries\": {}}".utf8)
    #expect(PlistFormat.version(ofHead: content) == (text == "-1" ? -1 : nil))
    #expect(throws: CacheError.self) { try PlistFormat.decode(content, namespace: "a", path: "a.json") }
  }

  @Test func bytesThatAreNotTextAreNamedWithTheirPlace() throws {
    let error = #expect(throws: CacheError.self) {
      try PlistFormat.decode(Array("{\n \"".utf8) + [0xFF], namespace: "a", path: "a.json")
    }
    #expect(error?.message == "a.json is damaged: line 2, column 3: the text is not valid UTF-8")
  }
}
