import Testing

@testable import HTTPCaching

struct HTTPFieldsTests {
  @Test(arguments: [
    ("Accept", "accept", true), ("ETag", "ETAG", true), ("a", "b", false), ("a", "aa", false), ("", "", true),
    // Only ASCII letters are case-insensitive, not the bytes next to them.
    ("@[`{", "@[`{", true), ("@", "`", false), ("[", "{", false), ("É", "é", false), ("K", "\u{212A}", false),
  ])
  func comparesNames(_ left: String, _ right: String, isSame: Bool) {
    #expect(HTTP.Fields.isSame(left, right) == isSame)
  }

  @Test func joinsLines() {
    let fields: HTTP.Fields = ["A": "1", "B": "2", "a": "3"]
    #expect(fields["A"] == "1, 3" && fields["b"] == "2" && fields["c"] == nil)
    #expect(fields.values(of: "a") == ["1", "3"] && fields.contains("B") && !fields.contains("c"))
  }

  @Test func replacesLinesAtThePlaceOfTheFirst() {
    var fields: HTTP.Fields = ["X": "0", "A": "1", "B": "2", "a": "3"]
    fields["a"] = "4"
    #expect(fields == ["X": "0", "a": "4", "B": "2"])
    fields["C"] = "5"
    fields["x"] = nil
    fields["none"] = nil
    #expect(fields == ["a": "4", "B": "2", "C": "5"])
    fields.append("A", "6")
    #expect(fields["A"] == "4, 6")
  }

  @Test func anEmptyValueIsAValue() {
    let fields: HTTP.Fields = ["A": ""]
    #expect(fields["a"] == "" && fields.contains("A"))
  }
}

struct ConnectionFieldsTests {
  @Test(arguments: [
    "connection", "keep-alive", "te", "transfer-encoding", "upgrade", "proxy-authenticate", "proxy-authorization",
  ])
  func namesTheFieldsThatAlwaysAre(_ name: String) {
    #expect(([:] as HTTP.Fields).connectionFields.contains(name))
  }

  @Test func namesTheFieldsThatConnectionNames() {
    let names = (["Connection": "close, A", "connection": "b"] as HTTP.Fields).connectionFields
    #expect(names.isSuperset(of: ["close", "a", "b"]) && !names.contains("c"))
  }

  @Test(arguments: ["date", "cache-control", "etag", "set-cookie", "content-length"])
  func leavesTheOthers(_ name: String) {
    #expect(!(["Connection": "close"] as HTTP.Fields).connectionFields.contains(name))
  }
}

struct FieldTextTests {
  @Test(arguments: [
    ([], ""), (Array("plain".utf8), "plain"), (Array("größe €😀".utf8), "größe €😀"),
    ([0x22, 0xE9, 0x22], "\"\u{F7E9}\""),
    // Cut off, too long, a surrogate, beyond the end.
    ([0xE2, 0x82], "\u{F7E2}\u{F782}"), ([0xC0, 0x80], "\u{F7C0}\u{F780}"),
    ([0xED, 0xA0, 0x80], "\u{F7ED}\u{F7A0}\u{F780}"),
    ([0xF5, 0x80, 0x61], "\u{F7F5}\u{F780}a"),
    // A character that represents a byte, sent as UTF-8.
    (Array("\u{F7E9}".utf8), "\u{F7EF}\u{F79F}\u{F7A9}"),
  ])
  func bytesSurvive(_ bytes: [UInt8], _ text: String) {
    let decoded = FieldText.decode(bytes[...])
    #expect(Array(decoded.unicodeScalars) == Array(text.unicodeScalars))
    #expect(FieldText.encode(decoded) == bytes)
  }

  @Test func everyPairOfBytesSurvives() {
    for first in UInt8.min...UInt8.max {
      for second in UInt8.min...UInt8.max {
        let bytes = [first, second, 0x41]
        if FieldText.encode(FieldText.decode(bytes[...])) != bytes { Issue.record("\(bytes)") }
      }
    }
  }
}
