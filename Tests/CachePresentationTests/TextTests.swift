import CacheBase
import CacheDomain
import Foundation
import SeededNumbers
import Testing
@testable import CachePresentation

struct JSONTextTests {
  @Test(
    arguments: [
      (nil, "null"), (true, "true"), (false, "false"), (0, "0"), (.integer(.min), "-9223372036854775808"),
      (.double(0.5), "0.5"), (.double(1), "1.0"), (.double(.infinity), "null"), (.double(.nan), "null"), ([], "[]"),
      (.object([]), "{}"), ([1, [true, nil]], "[1,[true,null]]"), (["b": 1, "a": 2], #"{"b":1,"a":2}"#),
      ("a\"b\\c/", #""a\"b\\c/""#), ("\n\r\t\u{8}\u{1B}", #""\n\r\t\u0008\u001b""#), ("é日🎬", "\"é日🎬\""),
      ("\u{7F}\u{9B}\u{2028}\u{202E}", #""\u007f\u009b\u2028\u202e""#),
    ] as [(JSONValue, String)])
  func compact(_ value: JSONValue, _ text: String) { #expect(JSONText.text(value) == text) }

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

  @Test(arguments: 0..<200 as Range<UInt64>) func readsBackTheSame(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let value = generator.json(depth: 3)
    for layout in [JSONWriter.Layout.compact, .pretty] {
      let text = JSONText.text(value, layout)
      let read = try JSONDecoder().decode(ParsedJSON.self, from: Data(text.utf8))
      #expect(read.isEqual(to: value), "seed \(seed): \(text)")
      #expect(!text.unicodeScalars.contains { TerminalText.isHarmful($0) && $0 != "\n" }, "seed \(seed)")
    }
  }

  @Test(arguments: 0..<100 as Range<UInt64>) func indentsLikeThePrettyLayout(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let value = generator.json(depth: 4)
    #expect(JSONText.indented(JSONText.text(value)) == JSONText.text(value, .pretty), "seed \(seed)")
    #expect(JSONText.indented(JSONText.text(value, .pretty)) == JSONText.text(value, .pretty), "seed \(seed)")
  }

  @Test(arguments: ["", "{", "[}", "]", "{\"a\": \"b}", "[1]]", "\"\\\""]) func doesNotIndentMalformedText(text: String)
  { #expect(JSONText.indented(text) == nil) }

  @Test func indentingKeepsDigitsAndIsSafe() {
    #expect(
      JSONText.indented(#"{"a":1.50,"b":"x:{\"\u0041\u202e"}"#) == "{\n  \"a\": 1.50,\n  \"b\": \"x:{\\\"A\\u202e\"\n}")
  }

  @Test func findsMembers() {
    let value: JSONValue = ["a": 1, "b": "x"]
    #expect(value["b"] == "x")
    #expect(value["c"] == nil)
    #expect(JSONValue.integer(1)["a"] == nil)
  }

  @Test(arguments: [
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
      return .object((0..<Int.random(in: 0...4, using: &self)).map { .init("\($0)" + text(), json(depth: depth - 1)) })
    }
  }
}

struct CSVTextTests {
  @Test(
    arguments: [
      ([["a", "b"], ["1", ""]], "a,b\r\n1,\r\n"),
      ([["x,y", "say \"hi\"", "two\nlines", "c\rr"]], "\"x,y\",\"say \"\"hi\"\"\",\"two\nlines\",\"c\rr\"\r\n"),
      ([["=1+1", " spaced "]], "=1+1, spaced \r\n"), ([[""]], "\"\"\r\n"), ([], ""),
    ] as [([[String]], String)])
  func text(_ rows: [[String]], _ text: String) { #expect(CSVText.text(rows) == text) }

  @Test(
    arguments: [
      (nil, ""), ("x", "x"), (12, "12"), (true, "true"), (.double(0.5), "0.5"), (["Drama", "War"], "Drama; War"),
      ([], ""), ([1, "a"], "[1,\"a\"]"), (["a": 1], "{\"a\":1}"),
    ] as [(JSONValue, String)])
  func field(_ value: JSONValue, _ text: String) { #expect(CSVText.field(value) == text) }

  @Test(arguments: 0..<200 as Range<UInt64>) func readsBackTheSame(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let width = Int.random(in: 1...5, using: &generator)
    let rows = (0..<Int.random(in: 0...6, using: &generator)).map { _ in
      (0..<width).map { _ in generator.text() + (Bool.random(using: &generator) ? "\",\r\n" : "") }
    }
    let read = Self.read(CSVText.text(rows))
    #expect(read.map { $0.map { Array($0.utf8) } } == rows.map { $0.map { Array($0.utf8) } }, "seed \(seed)")
  }

  /// Reads RFC 4180 as simply as can be.
  private static func read(_ text: String) -> [[String]] {
    var rows: [[String]] = []
    var (row, field, isQuoted) = ([String](), String.UnicodeScalarView(), false)
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"":
        isQuoted.toggle()
        field.append(scalar)
      case "," where !isQuoted:
        row.append(unquoted(field))
        field = .init()
      case "\n" where !isQuoted:
        field.removeLast()
        rows.append(row + [unquoted(field)])
        (row, field) = ([], .init())
      default: field.append(scalar)
      }
    }
    return rows
  }

  /// The field without the quotes around it, and with half of those inside.
  private static func unquoted(_ field: String.UnicodeScalarView) -> String {
    guard field.first == "\"" else { return String(field) }
    var (output, isSecond) = (String.UnicodeScalarView(), false)
    for scalar in field.dropFirst().dropLast() {
      if scalar != "\"" || isSecond { output.append(scalar) }
      isSecond = scalar == "\"" && !isSecond
    }
    return String(output)
  }
}

struct RFC3339TextTests {
  @Test(
    arguments: [
      (.zero, "1970-01-01T00:00:00Z"), (.seconds(951_782_400), "2000-02-29T00:00:00Z"),
      (.seconds(4_107_542_400), "2100-03-01T00:00:00Z"), (.milliseconds(1_772_366_400_250), "2026-03-01T12:00:00.250Z"),
      (.milliseconds(7), "1970-01-01T00:00:00.007Z"), (.nanoseconds(999_999), "1970-01-01T00:00:00Z"),
      (RFC3339Text.latest, "9999-12-31T23:59:59.999Z"), (.seconds(-1), "1970-01-01T00:00:00Z"),
      (.seconds(Int64.max), "9999-12-31T23:59:59.999Z"),
    ] as [(Duration, String)])
  func text(_ time: Duration, _ text: String) { #expect(RFC3339Text.text(time) == text) }

  @Test(arguments: 0..<20 as Range<UInt64>) func agreesWithFoundation(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let style = Date.ISO8601FormatStyle(includingFractionalSeconds: false)
    for _ in 0..<100 {
      let seconds = Int64.random(in: 0...253_402_300_799, using: &generator)
      let text = RFC3339Text.text(.seconds(seconds))
      #expect(text == Date(timeIntervalSince1970: Double(seconds)).formatted(style), "seed \(seed)")
    }
  }
}

struct HumanTextTests {
  @Test(arguments: [
    (0, "0"), (999, "999"), (1_000, "1,000"), (54_298_476_501, "54,298,476,501"), (-1_234, "-1,234"), (-12, "-12"),
    (.min, "-9,223,372,036,854,775,808"),
  ])
  func number(_ number: Int, _ text: String) { #expect(NumberText.text(number) == text) }

  @Test(arguments: [(0, "$0"), (54_298_476_501, "$54,298,476,501"), (-1_200, "-$1,200")])
  func dollars(_ amount: Int, _ text: String) { #expect(NumberText.dollars(amount) == text) }

  @Test(arguments: [(0, "0 cities"), (1, "1 city"), (6_057, "6,057 cities")])
  func count(_ count: Int, _ text: String) { #expect(NumberText.count(count, "city", "cities") == text) }

  @Test(
    arguments: [
      (0, 0, "0"), (1234.5, 1, "1,234.5"), (0.05, 2, "0.05"), (0.999, 2, "1.00"), (2, 3, "2.000"), (1e300, 1, "-"),
      (.nan, 0, "-"), (.infinity, 0, "-"),
    ] as [(Double, Int, String)])
  func decimal(_ number: Double, _ places: Int, _ text: String) {
    #expect(NumberText.decimal(number, places: places) == text)
  }

  @Test(arguments: [
    (0, "0 B"), (1_023, "1023 B"), (1_024, "1.0 KiB"), (1_468_006, "1.4 MiB"), (1_048_575, "1.0 MiB"),
    (1_073_741_824, "1.0 GiB"), (.max, "8.0 EiB"),
  ])
  func byteCount(_ count: Int, _ text: String) { #expect(ByteCountText.text(count) == text) }

  @Test(
    arguments: [
      (.zero, "0 s"), (.seconds(59), "59 s"), (.milliseconds(59_600), "1 min"), (.seconds(3_599), "1 h"),
      (.seconds(3_420), "57 min"), (.seconds(-7_200), "2 h"), (.seconds(172_800), "2 days"),
      (.seconds(86_400 * 90), "3 months"), (.seconds(86_400 * 800), "2 years"),
      (.seconds(Int64.max), "292,271,023,045 years"),
    ] as [(Duration, String)])
  func rough(_ duration: Duration, _ text: String) { #expect(ElapsedTimeText.rough(duration) == text) }

  @Test(arguments: [(0, "0:00"), (42, "0:42"), (725, "12:05"), (3_723, "1:02:03")])
  func clock(_ seconds: Int, _ text: String) { #expect(ElapsedTimeText.clock(.seconds(seconds)) == text) }

  @Test(arguments: [
    (0, "just now"), (-1, "just now"), (1, "just now"), (-12, "12 s ago"), (-180, "3 min ago"), (7_200, "in 2 h"),
    (-86_400 * 5, "5 days ago"),
  ])
  func relativeTime(_ seconds: Int, _ text: String) {
    #expect(RelativeTimeText.text(.seconds(1_000_000 + seconds), now: .seconds(1_000_000)) == text)
  }

  @Test func theLastInstantIsNever() {
    #expect(RelativeTimeText.text(RFC3339Text.latest, now: .seconds(1_000_000)) == "never")
  }
}

struct DrawnTextTests {
  @Test(
    arguments: [
      ("", 10, 0), ("\n", 10, 1), ("ab\n", 10, 1), ("0123456789\n", 10, 1), ("0123456789a\n", 10, 2),
      ("a\n\nb\n", 10, 3), ("01234567890123456789\n", 10, 2), ("012345678901234567890\nb\n", 10, 4),
      ("\u{1B}[1m0123456789\u{1B}[0m\n", 10, 1), ("日本語日本\n", 10, 1), ("日本語日本語\n", 10, 2),
      // A wide character that half fits goes to the next line: 3 + 3 + 1 of seven in lines of seven cells.
      ("日本語日本語日\n", 7, 3), ("e\u{301}e\u{301}\n", 2, 1), ("ab\n", 1, 2),
    ] as [(String, Int, Int)])
  func rows(_ text: String, _ width: Int, _ rows: Int) {
    #expect(DrawnText(text, on: .terminal(width: width, height: 24, hasColor: true)).rows == rows)
  }

  @Test(
    arguments: [
      (.terminal(width: 10, height: 3, hasColor: false), "\r\u{1B}[2A\u{1B}[Jnew\n"),
      (.terminal(width: 3, height: 4, hasColor: false), "\r\u{1B}[3A\u{1B}[Jnew\n"),
      (.terminal(width: 3, height: 3, hasColor: false), nil), (.terminal(width: 10, height: 2, hasColor: false), nil),
      (.terminal(width: 10, hasColor: false), nil), (.terminal(width: nil, height: 24, hasColor: false), nil),
      (.file, nil),
    ] as [(Screen, String?)])
  func replacement(_ screen: Screen, _ expected: String?) {
    let drawn = DrawnText("abcd\nb\n", on: screen)
    #expect(drawn.replacement(by: "new\n") == expected)
    #expect(drawn.isReplaceable == (expected != nil))
  }

  @Test func nothingIsReplacedWithoutMovingUp() {
    let drawn = DrawnText("", on: .terminal(width: 10, height: 3, hasColor: false))
    #expect(drawn.replacement(by: "new\n") == "\r\u{1B}[Jnew\n")
  }

  @Test(
    arguments: [
      (nil, "Page 1 of 243 · 6,057 cities · from cache\n"), (40, "Page 1 of 243 · 6,057 cities · from\ncache\n"),
      (20, "Page 1 of 243 ·\n6,057 cities · from\ncache\n"),
    ] as [(Int?, String)])
  func aStatusLineIsBrokenBetweenWords(width: Int?, text: String) {
    let line = StatusLine(["Page 1 of 243", "6,057 cities", "from cache"])
    #expect(line.line(on: .terminal(width: width, hasColor: false)) == text)
  }

  @Test(arguments: [
    (20, "Asking the origin ·…"), (80, "Asking the origin · Page 1"), (nil, "Asking the origin · Page 1"),
  ])
  func aStatusLineIsCut(width: Int?, text: String) {
    let line = StatusLine(["Asking the origin", "Page 1"])
    #expect(line.cut(to: .terminal(width: width, hasColor: false)) == text)
    #expect(line.cut(to: .terminal(width: width, hasColor: true)) == "\u{1B}[2m\(text)\u{1B}[0m")
  }
}

struct TerminalTextTests {
  @Test(arguments: [
    ("plain é日🎬", "plain é日🎬", "plain é日🎬"), ("\u{1B}[2J", "\\u{1B}[2J", "\\u{1B}[2J"),
    ("a\r\nb\tc\rd", "a\\r\\nb\\tc\\rd", "a\nb\tc\\rd"),
    ("\u{7F}\u{9B}m\u{0}", "\\u{7F}\\u{9B}m\\u{0}", "\\u{7F}\\u{9B}m\\u{0}"),
    ("\u{202E}cod", "\\u{202E}cod", "\\u{202E}cod"), ("\u{2066}\u{2028}", "\\u{2066}\\u{2028}", "\\u{2066}\\u{2028}"),
    ("", "", ""),
  ])
  func escapes(_ text: String, _ line: String, _ block: String) {
    #expect(TerminalText.line(text) == line)
    #expect(TerminalText.block(text) == block)
  }

  @Test(arguments: 0..<300 as Range<UInt64>) func neverEmitsTerminalControls(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let text = generator.text(upTo: 40)
    #expect(!TerminalText.line(text).unicodeScalars.contains(where: TerminalText.isHarmful), "seed \(seed)")
    let block = TerminalText.block(text).unicodeScalars
    #expect(!block.contains { TerminalText.isHarmful($0) && $0 != "\n" && $0 != "\t" }, "seed \(seed)")
  }

  @Test(arguments: [
    ("", 0), ("abc", 3), ("日本", 4), ("é", 1), ("e\u{301}", 1), ("\u{301}", 0), ("🎬", 2), ("👨‍👩‍👧", 2), ("🇩🇪", 2), ("❤", 1),
    ("❤\u{FE0F}", 2), ("한글", 4), ("ｱ", 1), ("Ａ", 2), ("\u{200B}", 0), ("…·", 2), ("\u{AD}", 1), ("👍🏽", 2), ("䷀", 2),
    ("\u{1112}\u{1161}\u{11AB}", 2),
  ])
  func width(_ text: String, _ width: Int) { #expect(DisplayWidth.width(text) == width) }

  @Test(arguments: [
    ("abcdef", 6, "abcdef"), ("abcdef", 5, "abcd…"), ("abcdef", 1, "…"), ("abcdef", 0, ""), ("abcdef", -1, ""),
    ("日本語", 6, "日本語"), ("日本語", 5, "日本…"), ("日本語", 4, "日…"), ("ab cdef", 4, "ab…"),
    ("e\u{301}e\u{301}e", 2, "e\u{301}…"),
  ])
  func truncates(_ text: String, _ limit: Int, _ cut: String) {
    #expect(DisplayWidth.truncated(text, to: limit) == cut)
  }

  @Test(arguments: 0..<200 as Range<UInt64>) func neverExceedsTheLimit(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let text = TerminalText.line(generator.text(upTo: 40))
    let limit = Int.random(in: 0...30, using: &generator)
    let cut = DisplayWidth.truncated(text, to: limit)
    #expect(DisplayWidth.width(cut) <= limit || cut == text, "seed \(seed)")
    #expect(DisplayWidth.width(cut) <= max(limit, 0), "seed \(seed)")
  }
}

/// Messages quote servers, files and command lines, and stay readable.
struct MessageTextTests {
  private static let long = String(repeating: "x", count: 60_000)

  @Test(arguments: [
    ("unknown command '\(long)'", "unknown command 'xx", "xx'"),
    ("/\(long)/last.json cannot be read: no such file", "/xxx", "xx/last.json cannot be read: no such file"),
    ("the answer has the content coding '\(long)', which is not known", "the answer has", "xxx', which is not known"),
    (String(repeating: "word ", count: 12_000) + "end", "word word", "word end"),
    (String(repeating: "e\u{301}", count: 30_000), "e\u{301}", "e\u{301}"),
  ])
  func aLongMessageIsCutInTheMiddle(text: String, start: String, end: String) {
    let message = MessageText.message(text)
    #expect(message.unicodeScalars.count <= MessageText.longestMessage && message.contains("…"))
    #expect(message.hasPrefix(start) && message.hasSuffix(end), "\(message)")
  }

  @Test(arguments: ["", "short", String(repeating: "x", count: 200), String(repeating: "é", count: 200)])
  func shortTextsStay(text: String) { #expect(MessageText.message(text) == text) }

  @Test func peopleAndProgramsGetTheSame() throws {
    let view = ErrorView(code: "failed", message: Self.long, hint: "remove it with: cachectl rm a/\(Self.long)")
    for diagnostic in [Diagnostic.error(view), .warning(view), .detail(topic: "request", text: Self.long)] {
      #expect(JSONText.text(diagnostic.json).utf8.count < 5_000 && diagnostic.text(on: .file).utf8.count < 5_000)
    }
    // The hint is a command to copy, with a key of any usual length.
    let key = "a/" + String(repeating: "k", count: 2_000)
    #expect(ErrorView(CacheError(.damaged, "x", key: key)).text.contains("cachectl rm \(key); or "))
  }

  @Test(arguments: [
    ("raise maxBytes", "raise cache.maxBytes"),
    ("100 bytes, more than maxEntryBytes (5) allows", "100 bytes, more than cache.maxEntryBytes (5) allows"),
    ("no room: maxEntries is 1, maxBytes 2", "no room: cache.maxEntries is 1, cache.maxBytes 2"),
    ("(maxBytes)", "(cache.maxBytes)"), ("raise cache.maxBytes", "raise cache.maxBytes"),
    ("entry a/maxBytes, and a/maxBytes=1", "entry a/maxBytes, and a/maxBytes=1"),
    ("try again, or raise option 'busyTimeout' of backend sqlite", "try again, or raise 'backends.sqlite.busyTimeout'"),
    ("/c.json:1:2: option 'path' of backend plist is wrong", "/c.json:1:2: 'backends.plist.path' is wrong"),
    ("see the option 'a' of backend b: x", "see 'backends.b.a': x"), ("option 'a' of backend", "option 'a' of backend"),
    ("option '' of backend b", "option '' of backend b"), ("' of backend ", "' of backend "),
  ])
  func aSettingIsNamedWithItsSection(text: String, expected: String) {
    let view = ErrorView(CacheError(.failed, text, hint: text))
    #expect(view.message == expected && view.hint == expected)
  }
}
