import Testing

@testable import HTTPCaching

struct HTTPFieldsTests {
  @Test(arguments: [
    ("Accept", "accept", true), ("ETag", "ETAG", true), ("a", "b", false), ("a", "aa", false), ("", "", true),
    // Only ASCII letters are case-insensitive, not the bytes next to them.
    ("@[`{", "@[`{", true), ("@", "`", false), ("[", "{", false), ("É", "é", false), ("K", "\u{212A}", false),
  ])
  func comparesNames(_ left: String, _ right: String, isSame: Bool) {
    #expect(HTTPFields.isSame(left, right) == isSame)
  }

  @Test func joinsLines() {
    let fields: HTTPFields = ["A": "1", "B": "2", "a": "3"]
    #expect(fields["A"] == "1, 3" && fields["b"] == "2" && fields["c"] == nil)
    #expect(fields.values(of: "a") == ["1", "3"] && fields.contains("B") && !fields.contains("c"))
  }

  @Test func replacesLinesAtThePlaceOfTheFirst() {
    var fields: HTTPFields = ["X": "0", "A": "1", "B": "2", "a": "3"]
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
    let fields: HTTPFields = ["A": ""]
    #expect(fields["a"] == "" && fields.contains("A"))
  }
}

struct ConnectionFieldsTests {
  @Test(arguments: [
    "connection", "keep-alive", "te", "transfer-encoding", "upgrade", "proxy-authenticate", "proxy-authorization",
  ])
  func namesTheFieldsThatAlwaysAre(_ name: String) {
    #expect(([:] as HTTPFields).connectionFields.contains(name))
  }

  @Test func namesTheFieldsThatConnectionNames() {
    let names = (["Connection": "close, A", "connection": "b"] as HTTPFields).connectionFields
    #expect(names.isSuperset(of: ["close", "a", "b"]) && !names.contains("c"))
  }

  @Test(arguments: ["date", "cache-control", "etag", "set-cookie", "content-length"])
  func leavesTheOthers(_ name: String) {
    #expect(!(["Connection": "close"] as HTTPFields).connectionFields.contains(name))
  }
}
