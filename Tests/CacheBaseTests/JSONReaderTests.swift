import Foundation
import CacheBase
import SeededNumbers
import Testing

@Suite struct JSONReaderTests {
  @Test(arguments: [
    (#""""#, ""), (#" "a" "#, "a"), (#""é\u00e9\uD83D\uDE00😀""#, "éé😀😀"),
    (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"),
    (#""\u0000""#, "\u{0}"), (#""a\\b""#, "a\\b"),
  ])
  func strings(text: String, expected: String) throws {
    #expect(try whole(text) { json throws(JSONReader.Failure) in try json.string() } == expected)
  }

  @Test(arguments: [
    #"""#, #""a"#, "\"\n\"", #""\x""#, #""\"#, #""\u12"#, #""\u12g4""#, #""\uD83D""#, #""\uD83D\u0041""#, #""\uDE00""#,
    "a",
    "", "1", #""a"b"#,
  ])
  func malformedStrings(text: String) {
    #expect(throws: JSONReader.Failure.self) {
      try whole(text) { json throws(JSONReader.Failure) in try json.string() }
    }
  }

  @Test(arguments: [
    ("0", 0), (" -1.5 ", -1.5), ("1.07", 1.07), ("2e3", 2_000), ("12345678901234567890", 1.2345678901234567e19),
  ])
  func numbers(text: String, expected: Double) throws {
    #expect(try whole(text) { json throws(JSONReader.Failure) in try json.number() } == expected)
  }

  @Test(arguments: ["", "a", "1.", "-", "01", "1e", "1e999", "\"1\"", "true"])
  func malformedNumbers(text: String) {
    #expect(throws: JSONReader.Failure.self) {
      try whole(text) { json throws(JSONReader.Failure) in try json.number() }
    }
  }

  @Test(arguments: [("true", true), (" false ", false), ("1", nil), ("tru", nil), ("\"true\"", nil), ("null", nil)])
  func booleans(text: String, expected: Bool?) {
    #expect((try? whole(text) { json throws(JSONReader.Failure) in try json.boolean() }) == expected)
  }

  /// The reader searches for the end of a string in blocks. So each length is tested, with a special character at each
  /// place.
  @Test(arguments: [
    (UInt8(ascii: "\\"), "n", "\n"), (UInt8(ascii: "\\"), "u00e9", "é"), (0xC3, "\u{A9}", "é"), (0x7F, "", "\u{7F}"),
    (0x20, "", " "), (0x21, "", "!"), (0x23, "", "#"), (0x5B, "", "["), (0x5D, "", "]"),
  ])
  func specialCharactersAreSeenAtEachPlace(first: UInt8, rest: String, expected: String) throws {
    let special = first == 0xC3 ? [0xC3, 0xA9] : [first] + Array(rest.utf8)
    for length in 0..<70 {
      for place in 0...length {
        let (before, after) = (String(repeating: "a", count: place), String(repeating: "b", count: length - place))
        let bytes = Array("\"\(before)".utf8) + special + Array("\(after)\"".utf8)
        var json = JSONReader(bytes)
        #expect(try json.string() == before + expected + after, "place \(place) of \(length)")
        try json.end()
      }
    }
  }

  @Test(arguments: [[0x00], [0x1F], [0x0A], [0xFF], [0xC3], [0x80], [0xE2, 0x82], [0xC0, 0xAF]] as [[UInt8]])
  func invalidBytesInAStringAreFoundAtEachPosition(bad: [UInt8]) {
    for length in 0..<70 {
      for place in 0...length {
        let before = [UInt8](repeating: UInt8(ascii: "a"), count: place)
        let after = [UInt8](repeating: UInt8(ascii: "b"), count: length - place)
        var json = JSONReader([UInt8(ascii: "\"")] + before + bad + after + [UInt8(ascii: "\"")])
        #expect(throws: JSONReader.Failure.self, "place \(place) of \(length)") { try json.string() }
      }
    }
  }

  @Test(arguments: [
    (#"{"a":1,"bc":2,"a name that is too long for the fast way":3}"#, [0, 1, 2]), ("{}", []), ("{ }", []),
    (#"{"bc":1,"a":2}"#, [1, 0]), (#"{"bc":1,"bc":2}"#, [1, 1]), (#" { "a" : 1 , "bc" : 2 } "#, [0, 1]),
    (#"{"b\u0063":1,"a":2}"#, [1, 0]), (#"{"x":{"a":[1]},"a":2,"ab":3,"bc":4}"#, [0, 1]),
    (#"{"a":1, "a\u0000":2}"#, [0]),
    (#"{"A":1,"aa":2,"":3}"#, []),
  ])
  func membersAreFoundByTheirNames(text: String, expected: [Int]) throws {
    let names = JSONNames(["a", "bc", "a name that is too long for the fast way"])
    var found: [Int] = []
    try whole(text) { json throws(JSONReader.Failure) in
      try json.object(names) { json, member throws(JSONReader.Failure) in
        found.append(member)
        _ = try json.integer()
      }
    }
    #expect(found == expected)
  }

  @Test(arguments: [
    "", "{", "[]", #"{"a"}"#, #"{"a":}"#, #"{"a":1"#, #"{"a":1,}"#, #"{"a":1 "bc":2}"#, #"{a:1}"#, #"{"a:1}"#, #"{,}"#,
    #"{"a":1,,"bc":2}"#, #"{"x":tru}"#, #"{"bc"#, #"{"bc""#, #"{"a":1.5}"#,
  ])
  func malformedObjectsAreRejected(text: String) {
    #expect(throws: JSONReader.Failure.self) {
      try whole(text) { json throws(JSONReader.Failure) in
        try json.object(JSONNames(["a", "bc"])) { json, _ throws(JSONReader.Failure) in _ = try json.integer() }
      }
    }
  }

  @Test func bytesThatAreNotUTF8AreRejected() {
    var json = JSONReader([0x22, 0xFF, 0x22])
    #expect(throws: JSONReader.Failure.self) { try json.string() }
  }

  @Test(arguments: [("0", 0), ("-0", 0), ("12", 12), ("\(Int.max)", Int.max), (" \(Int.min)\n", Int.min)])
  func integers(text: String, expected: Int) throws {
    #expect(try whole(text) { json throws(JSONReader.Failure) in try json.integer() } == expected)
  }

  @Test(arguments: ["", "-", "+1", "01", "1.5", "1e2", "9223372036854775808", "--1", "0x1", "\"1\"", "null"])
  func malformedIntegers(text: String) {
    #expect(throws: JSONReader.Failure.self) {
      try whole(text) { json throws(JSONReader.Failure) in try json.integer() }
    }
  }

  @Test(arguments: [
    "null", "true", "false", "0", "-1.25e+3", "1E-2", #""a""#, "[]", "[1, [2], {}]", "{}",
    #"{"a": {"b": [null]}, "a": 1}"#,
  ])
  func wellFormedValuesAreSkipped(text: String) throws {
    try whole(text) { json throws(JSONReader.Failure) in try json.skipValue() }
  }

  @Test(arguments: [
    "", "nul", "[", "[1,]", "[1 2]", "{", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, "{a:1}", "1.", ".5", "1e", "tru", "]",
    "[1]]",
    String(repeating: "[", count: 100_000),
  ])
  func malformedValuesAreRejected(text: String) {
    #expect(throws: JSONReader.Failure.self) {
      try whole(text) { json throws(JSONReader.Failure) in try json.skipValue() }
    }
  }

  @Test func optionalValuesAndArrays() throws {
    let values = try whole("[1, null, 3]") { json throws(JSONReader.Failure) in
      try json.array { json throws(JSONReader.Failure) in
        try json.optional { json throws(JSONReader.Failure) in try json.integer() }
      }
    }
    #expect(values == [1, nil, 3])
  }

  @Test func failuresTellThePlace() {
    let failure = #expect(throws: JSONReader.Failure.self) {
      try whole("[1, x]") { json throws(JSONReader.Failure) in try json.skipValue() }
    }
    #expect(failure?.offset == 4)
    #expect(failure?.description == "expected a value, found 'x' (at byte 4)")
  }

  @Test(arguments: 0..<20)
  func readsTheOutputOfFoundation(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var expected: [String: String] = [:]
    for _ in 0..<20 { expected[random.text()] = random.text() }
    let bytes = Array(try JSONEncoder().encode(expected))
    var (json, found) = (JSONReader(bytes), [String: String]())
    try json.object { json, name throws(JSONReader.Failure) in found[name] = try json.string() }
    try json.end()
    #expect(found == expected, "seed \(seed)")
  }

  @Test(arguments: 0..<200)
  func neverReadsPastTheEndOfDamagedDocuments(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var bytes = Array(#"{"a": [1, -2.5e3, "x\u00e9\n", null, true], "b": {"c": "d"}}"#.utf8)
    for _ in 0..<3 {
      bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
    }
    bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random))
    let isJSON = (try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)) != nil
    var json = JSONReader(bytes)
    let isRead: Bool
    do {
      try json.skipValue()
      try json.end()
      isRead = true
    } catch {
      isRead = false
    }
    // Foundation is more lenient in a few points, never less.
    if isRead { #expect(isJSON, "seed \(seed): \(String(decoding: bytes, as: UTF8.self))") }
  }

  private func whole<Value>(
    _ text: String, _ read: (inout JSONReader) throws(JSONReader.Failure) -> Value
  ) throws(JSONReader.Failure) -> Value {
    var json = JSONReader(Array(text.utf8))
    let value = try read(&json)
    try json.end()
    return value
  }
}

extension SeededGenerator {
  /// Text of up to 8 characters from all over Unicode.
  fileprivate mutating func text() -> String {
    var scalars = String.UnicodeScalarView()
    for _ in 0..<Int.random(in: 0...8, using: &self) {
      let limit: UInt32 = Bool.random(using: &self) ? 0x7F : 0x10FFFF
      if let scalar = Unicode.Scalar(UInt32.random(in: 0...limit, using: &self)) { scalars.append(scalar) }
    }
    return String(scalars)
  }
}
