import Foundation
import Testing

@testable import CacheBase
@testable import CachectlTool
@testable import CacheConfiguration

struct JSONDocumentTests {
  @Test(arguments: [
    ("{}", "{}"), (" [ ] ", "[]"), ("null", "null"), ("-0.5e+3", "-0.5e+3"), ("0", "0"),
    (#"{"a":[1,true,false,null,{"b":"c"}]}"#, #"{"a": [1, true, false, null, {"b": "c"}]}"#),
    (#""\"\\\/\b\f\n\r\t""#, #""\"\\/\u0008\u000c\n\r\t""#),
    (#""\u00e9\uD83D\uDE00é😀""#, #""é😀é😀""#), ("\u{FEFF}1", "1"),
  ])
  func readsWhatIsJSON(text: String, expected: String) throws {
    #expect(Self.write(try JSONDocument(parsing: Array(text.utf8)).root) == expected)
  }

  @Test(arguments: [
    ("", 1, 1, "expected a value, found the end of the text"),
    ("{\n  \"a\": 1,\n}", 3, 1, "expected a key in double quotes, found '}'"),
    ("{\"a\" 1}", 1, 6, "expected ':', found '1'"),
    ("{\"a\": }", 1, 7, "expected a value, found '}'"),
    ("{\"é😀\": x}", 1, 8, "expected a value, found 'x'"),
    ("[1 2]", 1, 4, "expected ',' or ']', found '2'"),
    ("[1,]", 1, 4, "expected a value, found ']'"),
    ("{\"a\": 1", 1, 8, "expected ',' or '}', found the end of the text"),
    ("{} x", 1, 4, "expected the end of the text, found 'x'"),
    ("{\"a\": 1, \"\\u0061\": 2}", 1, 10, "the key \"a\" occurs twice"),
    ("01", 1, 2, "expected the end of the text, found '1'"),
    ("-", 1, 2, "expected a digit, found the end of the text"),
    ("1.", 1, 3, "expected a digit, found the end of the text"),
    ("1e+x", 1, 4, "expected a digit, found 'x'"),
    ("+1", 1, 1, "expected a value, found '+'"),
    ("nul", 1, 1, "expected a value, found 'n'"),
    ("'a'", 1, 1, "expected a value, found '''"),
    ("\"a", 1, 3, "expected a closing '\"', found the end of the text"),
    ("\"a\nb\"", 1, 3, "expected no control character inside a text, found a control character"),
    ("\"\\x\"", 1, 3, "expected one of \"\\/bfnrtu behind '\\', found 'x'"),
    ("\"\\u12g4\"", 1, 6, "expected four hexadecimal digits behind '\\u', found 'g'"),
    ("\"\\uD800\"", 1, 2, "expected a pair of surrogates, found half of one"),
    ("\"\\uD800\\u0041\"", 1, 2, "expected a pair of surrogates, found half of one"),
    ("\"\\uDC00\\uDC00\"", 1, 2, "expected a pair of surrogates, found half of one"),
    ("// no\n1", 1, 1, "expected a value, found '/'"),
    ("\u{85}", 1, 1, "expected a value, found a control character"),
  ])
  func namesThePlaceOfAMistake(text: String, line: Int, column: Int, message: String) {
    let error = JSONDocument.SyntaxError(place: SourcePlace(line: line, column: column), message: message)
    #expect(throws: error) { try JSONDocument(parsing: Array(text.utf8)) }
  }

  @Test func refusesWhatIsNotUTF8() {
    let error = JSONDocument.SyntaxError(
      place: SourcePlace(line: 2, column: 3), message: "the text is not valid UTF-8")
    #expect(throws: error) { try JSONDocument(parsing: Array("[\n\"é".utf8) + [0xC0, 0x22]) }
  }

  @Test(arguments: [(32, true), (33, false), (1_000_000, false)])
  func boundsTheDepth(depth: Int, isValid: Bool) {
    let text = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    #expect(((try? JSONDocument(parsing: Array(text.utf8))) != nil) == isValid)
  }

  @Test func eachKeyAndValueKnowsItsPlace() throws {
    let document = try JSONDocument(parsing: Array("\u{FEFF}{\r\n\t\"é\": [1,\n 2] }".utf8))
    guard case .object(let members) = document.root.value, case .array(let nodes) = members[0].node.value else {
      Issue.record("expected an object with a list")
      return
    }
    let places = [document.root.place, members[0].place, members[0].node.place] + nodes.map(\.place)
    #expect(places.map(\.description) == ["1:1", "2:2", "2:7", "2:8", "3:2"])
  }

  @Test func neverTrapsOnAPartOfAFile() throws {
    let bytes = Array(try Data(contentsOf: Fixtures.exampleURL))
    let end = try #require(bytes.lastIndex(of: UInt8(ascii: "}")))
    for count in 0...end {
      #expect(throws: JSONDocument.SyntaxError.self, "cut after \(count) bytes") {
        try JSONDocument(parsing: Array(bytes.prefix(count)))
      }
    }
  }

  @Test(arguments: [1, 2, 3, 4] as [UInt64])
  func damagedFilesAreReadOrRefusedAsFoundationDoes(seed: UInt64) throws {
    let original = Array(try Data(contentsOf: Fixtures.exampleURL))
    var state = seed
    func random(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % bound
    }
    for _ in 0..<500 {
      var bytes = original
      for _ in 0...random(3) { bytes[random(bytes.count)] = UInt8(random(256)) }
      let document = try? JSONDocument(parsing: bytes)
      _ = Fixtures.problems(String(decoding: bytes, as: UTF8.self))
      guard document != nil else { continue }
      let isAccepted = (try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)) != nil
      #expect(isAccepted, "seed \(seed): \(String(decoding: bytes, as: UTF8.self))")
    }
  }

  private static func write(_ node: JSONDocument.Node) -> String {
    switch node.value {
    case .null: "null"
    case .boolean(let flag): String(flag)
    case .number(let digits): digits
    case .text(let text): JSONText.text(.string(text))
    case .array(let nodes): "[" + nodes.map(write).joined(separator: ", ") + "]"
    case .object(let members):
      "{" + members.map { "\(JSONText.text(.string($0.key))): \(write($0.node))" }.joined(separator: ", ") + "}"
    }
  }
}
