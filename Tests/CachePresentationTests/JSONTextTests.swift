import CacheBase
import CachePresentation
import Foundation
import SeededNumbers
import Testing

struct JSONTextTests {
  @Test(
    arguments: [
      (nil, "null"), (true, "true"), (false, "false"), (0, "0"), (.integer(.min), "-9223372036854775808"),
      (.double(0.5), "0.5"), (.double(1), "1.0"), (.double(.infinity), "null"), (.double(.nan), "null"), ([], "[]"),
      (.object([]), "{}"), ([1, [true, nil]], "[1,[true,null]]"), (["b": 1, "a": 2], #"{"b":1,"a":2}"#),
      ("a\"b\\c/", #""a\"b\\c/""#), ("\n\r\t\u{8}\u{1B}", #""\n\r\t\u0008\u001b""#), ("é日🎬", "\"é日🎬\""),
      ("\u{7F}\u{9B}\u{2028}\u{202E}", #""\u007f\u009b\u2028\u202e""#),
    ] as [(JSONValue, String)])
  func compact(_ value: JSONValue, _ text: String) {
    #expect(JSONText.text(value) == text)
  }

  @Test func pretty() {
    let value: JSONValue = ["name": "x", "empty": [], "none": .object([]), "list": [1, ["a": nil]]]
    #expect(
      JSONText.text(value, .pretty) == """
        {
          "name": "x",
          "empty": [],
          "none": {},
          "list": [
            1,
            {
              "a": null
            }
          ]
        }
        """)
  }

  @Test(arguments: 0..<200 as Range<UInt64>)
  func readsBackTheSame(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let value = generator.json(depth: 3)
    for layout in [JSONWriter.Layout.compact, .pretty] {
      let text = JSONText.text(value, layout)
      let read = try JSONDecoder().decode(ParsedJSON.self, from: Data(text.utf8))
      #expect(read.isEqual(to: value), "seed \(seed): \(text)")
      #expect(!text.unicodeScalars.contains { TerminalText.isHarmful($0) && $0 != "\n" }, "seed \(seed)")
    }
  }

  @Test(arguments: 0..<100 as Range<UInt64>)
  func indentsLikeThePrettyLayout(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let value = generator.json(depth: 4)
    #expect(JSONText.indented(JSONText.text(value)) == JSONText.text(value, .pretty), "seed \(seed)")
    #expect(JSONText.indented(JSONText.text(value, .pretty)) == JSONText.text(value, .pretty), "seed \(seed)")
  }

  @Test(arguments: ["", "{", "[}", "]", "{\"a\": \"b}", "[1]]", "\"\\\""])
  func doesNotIndentWhatIsCutOff(text: String) {
    #expect(JSONText.indented(text) == nil)
  }

  @Test func indentingKeepsDigitsAndIsSafe() {
    #expect(
      JSONText.indented(#"{"a":1.50,"b":"x:{\"\u0041\u202e"}"#)
        == "{\n  \"a\": 1.50,\n  \"b\": \"x:{\\\"A\\u202e\"\n}")
  }

  @Test func findsMembers() {
    let value: JSONValue = ["a": 1, "b": "x"]
    #expect(value["b"] == "x")
    #expect(value["c"] == nil)
    #expect(JSONValue.integer(1)["a"] == nil)
  }

  @Test(
    arguments: [
      ("{\"a\":\"b\"}\n{}\n", "{\"a\":\"b\"}\n{}\n"), ("", ""), ("\"é 🦜\"\n", "\"é 🦜\"\n"),
      ("\"\u{9B}31m\u{7F}\"\n", #""\u009b31m\u007f""# + "\n"), ("\"a\u{202E}b\u{2028}\"", #""a\u202eb\u2028""#),
    ])
  func linesAreSafeForATerminal(lines: String, safe: String) {
    #expect(String(decoding: JSONText.safe(Array(lines.utf8)), as: UTF8.self) == safe)
  }
}

/// What JSONDecoder reads. (JSONSerialization is of no use here: it rounds many numbers.)
private enum ParsedJSON: Decodable {
  case null
  case boolean(Bool)
  case number(Double, Int?)
  case string(String)
  case array([ParsedJSON])
  case object([String: ParsedJSON])

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let flag = try? container.decode(Bool.self) {
      self = .boolean(flag)
    } else if let number = try? container.decode(Double.self) {
      self = .number(number, try? container.decode(Int.self))
    } else if let text = try? container.decode(String.self) {
      self = .string(text)
    } else if let elements = try? container.decode([ParsedJSON].self) {
      self = .array(elements)
    } else {
      self = .object(try container.decode([String: ParsedJSON].self))
    }
  }

  func isEqual(to value: JSONValue) -> Bool {
    switch (self, value) {
    case (.null, .null): true
    case (.boolean(let read), .boolean(let flag)): read == flag
    case (.number(_, let read), .integer(let number)): read == number
    case (.number(let read, _), .double(let number)): read == number
    case (.string(let read), .string(let text)): Array(read.utf8) == Array(text.utf8)
    case (.array(let read), .array(let elements)):
      read.count == elements.count && zip(read, elements).allSatisfy { $0.isEqual(to: $1) }
    case (.object(let read), .object(let members)):
      read.count == members.count && members.allSatisfy { read[$0.name]?.isEqual(to: $0.value) ?? false }
    default: false
    }
  }
}

extension SeededGenerator {
  /// A document nested at most `depth` times.
  mutating func json(depth: Int) -> JSONValue {
    switch Int.random(in: 0..<(depth > 0 ? 8 : 6), using: &self) {
    case 0: return nil
    case 1: return .boolean(.random(using: &self))
    case 2: return .integer(.random(in: .min ... .max, using: &self))
    case 3: return .double(.random(in: -1e9...1e9, using: &self))
    case 4, 5: return .string(text())
    case 6: return .array((0..<Int.random(in: 0...4, using: &self)).map { _ in json(depth: depth - 1) })
    default:
      return .object(
        (0..<Int.random(in: 0...4, using: &self)).map { .init("\($0)" + text(), json(depth: depth - 1)) })
    }
  }
}
