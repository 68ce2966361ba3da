import CachePresentation
import EngineAPI
import Foundation
import Testing
@testable import CacheBase
@testable import CacheConfiguration
@testable import CachectlTool

struct ConfigurationSchemaTests {
  @Test func theExampleFileMatchesTheDeclarations() throws {
    let text = try String(contentsOf: Fixtures.exampleURL, encoding: .utf8)
    #expect(text == Fixtures.loader(engines: Fixtures.engines).example)
  }

  @Test func theExampleIsValidAndHasTheDefaults() throws {
    let text = Fixtures.loader(engines: Fixtures.engines).example
    let loaded = try Fixtures.loader([Fixtures.file: text], engines: Fixtures.engines).load()
    let defaults = try Fixtures.loader(engines: Fixtures.engines).load()
    #expect(loaded.entries.map(\.key) == defaults.entries.map(\.key))
    #expect(loaded.entries.map(\.json) == defaults.entries.map(\.json))
    #expect(loaded.document == defaults.document)
  }

  /// Every name that is accepted.
  @Test func theSchemaKnowsTheLongNamesOfPolicies() throws {
    let schema = try JSONDocument(parsing: Array(Fixtures.loader(engines: Fixtures.engines).schema.utf8))
    func member(_ node: JSONDocument.Node?, _ name: String) -> JSONDocument.Node? {
      guard case .object(let members)? = node?.value else { return nil }
      return members.first { $0.key == name }?.node
    }
    var node: JSONDocument.Node? = schema.root
    for name in ["properties", "cache", "properties", "eviction", "enum"] { node = member(node, name) }
    guard case .array(let nodes)? = node?.value else { throw CacheError(.failed, "there is no enum") }
    let names = nodes.compactMap { if case .text(let name) = $0.value { name } else { nil } }
    #expect(
      names == [
        "lru", "lfu", "fifo", "s3-fifo", "size", "none", "least-recently-used", "least-frequently-used",
        "least-recently-stored", "size-adjusted",
      ])
    for name in names {
      #expect(Fixtures.loader([Fixtures.file: #"{"cache": {"eviction": "\#(name)"}}"#]).problems().isEmpty, "\(name)")
    }
  }

  @Test func theExampleSatisfiesTheSchema() throws {
    let schema = try object(Fixtures.loader(engines: Fixtures.engines).schema)
    let example = try object(Fixtures.loader(engines: Fixtures.engines).example)
    #expect(schema["$schema"] as? String == "https://json-schema.org/draft/2020-12/schema")
    check(example, schema, at: "")
  }

  @Test func theSchemaHasEveryKey() throws {
    let schema = try object(Fixtures.loader().schema)
    for key in Fixtures.loader().declared.settings {
      var node = schema
      for name in key.path.split(separator: ".") {
        let properties = try #require(node["properties"] as? [String: Any], "\(key.path)")
        #expect(node["additionalProperties"] as? Bool == false)
        node = try #require(properties[String(name)] as? [String: Any], "\(key.path)")
      }
      #expect((node["description"] as? String)?.hasPrefix(key.help) == true)
      #expect((node["default"] != nil) == (key.json != nil), "\(key.path)")
    }
  }

  /// A section without keys can be written, too.
  @Test func theSectionOfALayerWithoutKeysIsKnown() throws {
    #expect(Fixtures.problems(#"{"layers": {"readonly": {}}}"#).isEmpty)
    let wrong = Fixtures.problems(#"{"layers": {"readonly": {"x": 1}}}"#)
    #expect(wrong.map(\.message) == ["\(Fixtures.file):1:26: unknown key 'layers.readonly.x'"])
  }

  @Test func showingHidesSecrets() throws {
    let file = #"{"origin": {"movies": {"apiKey": {"env": "KEY"}, "headers": {"X": {"env": "KEY"}}}}}"#
    let environment = ["KEY": "hush", "CACHECTL_SERVER_PASSWORD": "hush"]
    let configuration = try Fixtures.loader([Fixtures.file: file], environment: environment).load()
    let entries = Dictionary(uniqueKeysWithValues: configuration.entries.map { ($0.key, $0) })
    #expect(entries["origin.movies.apiKey"]?.text == #"{"env":"KEY"} (set)"#)
    #expect(entries["origin.movies.apiKey"]?.json == ["env": .string("KEY")])
    #expect(entries["origin.movies.headers"]?.text == #"{"X":{"env":"KEY"}}"#)
    #expect(entries["backends.server.password"]?.json == ["env": .string("CACHECTL_SERVER_PASSWORD")])
    #expect(!"\(configuration.document)".contains("hush"))
    #expect(!"\(configuration.entries)".contains("hush"))
    let secret = try #require(configuration.movies.apiKey)
    #expect(!"\(secret) \(String(reflecting: secret)) \(Array(Mirror(reflecting: secret).children))".contains("hush"))
  }

  @Test func aSecretThatIsNotSetNamesItsVariable() {
    let secret = Secret(variable: "KEY", value: "")
    #expect(!secret.isSet)
    let error = #expect(throws: ConfigurationError.self) { try secret.reveal() }
    #expect(error?.code == .missing)
    #expect(error?.message.contains("KEY") == true)
  }

  @Test func showingSaysValuesAsTheFileDoes() throws {
    let configuration = try Fixtures.loader(environment: ["CACHECTL_LMDB_MAP_SIZE": "1048576KiB"]).load()
    let entries = Dictionary(uniqueKeysWithValues: configuration.entries.map { ($0.key, $0) })
    #expect(entries["backends.lmdb.mapSize"]?.text == "1GiB")
    #expect(entries["backends.lmdb.mapSize"]?.json == .string("1GiB"))
    #expect(entries["cache.staleIfError"]?.text == "7d")
    #expect(entries["cache.maxEntries"]?.json == .integer(100_000))
    #expect(entries["cache.shared"]?.text == "false")
    #expect(entries["plugins.searchPath"]?.text == #"["/home/ada/.local/lib/cachectl/plugins"]"#)
  }

  private func object(_ text: String) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
  }

  /// Checks the keywords that the schema uses.
  private func check(_ value: Any, _ schema: [String: Any], at path: String) {
    if let object = value as? [String: Any], let properties = schema["properties"] as? [String: [String: Any]] {
      let patterns = schema["patternProperties"] as? [String: [String: Any]] ?? [:]
      for (key, member) in object {
        let pattern = patterns.first { key.range(of: $0.key, options: .regularExpression) != nil }
        let property = properties[key] ?? pattern?.value
        #expect(property != nil, "\(path).\(key)")
        check(member, property ?? [:], at: "\(path).\(key)")
      }
    } else if let names = schema["enum"] as? [String] {
      #expect(names.contains(value as? String ?? ""), "\(path)")
    } else if let text = value as? String {
      #expect(schema["type"] as? String == "string", "\(path)")
      if let pattern = schema["pattern"] as? String {
        #expect(text.range(of: pattern, options: .regularExpression) != nil, "\(path)")
      }
    } else {
      #expect(["array", "integer", "boolean", "object"].contains(schema["type"] as? String), "\(path)")
    }
  }
}

struct JSONDocumentTests {
  @Test(arguments: [
    ("{}", "{}"), (" [ ] ", "[]"), ("null", "null"), ("-0.5e+3", "-0.5e+3"), ("0", "0"),
    (#"{"a":[1,true,false,null,{"b":"c"}]}"#, #"{"a": [1, true, false, null, {"b": "c"}]}"#),
    (#""\"\\\/\b\f\n\r\t""#, #""\"\\/\u0008\u000c\n\r\t""#), (#""\u00e9\uD83D\uDE00é😀""#, #""é😀é😀""#),
    ("\u{FEFF}1", "1"),
  ])
  func readsValidJSON(text: String, expected: String) throws {
    #expect(Self.write(try JSONDocument(parsing: Array(text.utf8)).root) == expected)
  }

  @Test(arguments: [
    ("", 1, 1, "expected a value, found the end of the text"),
    ("{\n  \"a\": 1,\n}", 3, 1, "expected a key in double quotes, found '}'"),
    ("{\"a\" 1}", 1, 6, "expected ':', found '1'"), ("{\"a\": }", 1, 7, "expected a value, found '}'"),
    ("{\"é😀\": x}", 1, 8, "expected a value, found 'x'"), ("[1 2]", 1, 4, "expected ',' or ']', found '2'"),
    ("[1,]", 1, 4, "expected a value, found ']'"),
    ("{\"a\": 1", 1, 8, "expected ',' or '}', found the end of the text"),
    ("{} x", 1, 4, "expected the end of the text, found 'x'"),
    ("{\"a\": 1, \"\\u0061\": 2}", 1, 10, "the key \"a\" occurs twice"),
    ("01", 1, 2, "expected the end of the text, found '1'"), ("-", 1, 2, "expected a digit, found the end of the text"),
    ("1.", 1, 3, "expected a digit, found the end of the text"), ("1e+x", 1, 4, "expected a digit, found 'x'"),
    ("+1", 1, 1, "expected a value, found '+'"), ("nul", 1, 1, "expected a value, found 'n'"),
    ("'a'", 1, 1, "expected a value, found '''"), ("\"a", 1, 3, "expected a closing '\"', found the end of the text"),
    ("\"a\nb\"", 1, 3, "expected no control character inside a text, found a control character"),
    ("\"\\x\"", 1, 3, "expected one of \"\\/bfnrtu behind '\\', found 'x'"),
    ("\"\\u12g4\"", 1, 6, "expected four hexadecimal digits behind '\\u', found 'g'"),
    ("\"\\uD800\"", 1, 2, "expected a pair of surrogates, found half of one"),
    ("\"\\uD800\\u0041\"", 1, 2, "expected a pair of surrogates, found half of one"),
    ("\"\\uDC00\\uDC00\"", 1, 2, "expected a pair of surrogates, found half of one"),
    ("// no\n1", 1, 1, "expected a value, found '/'"), ("\u{85}", 1, 1, "expected a value, found a control character"),
  ])
  func namesThePlaceOfAMistake(text: String, line: Int, column: Int, message: String) {
    let error = JSONDocument.SyntaxError(place: SourcePlace(line: line, column: column), message: message)
    #expect(throws: error) { try JSONDocument(parsing: Array(text.utf8)) }
  }

  @Test func refusesInvalidUTF8() {
    let error = JSONDocument.SyntaxError(place: SourcePlace(line: 2, column: 3), message: "the text is not valid UTF-8")
    #expect(throws: error) { try JSONDocument(parsing: Array("[\n\"é".utf8) + [0xC0, 0x22]) }
  }

  @Test(arguments: [(32, true), (33, false), (1_000_000, false)]) func boundsTheDepth(depth: Int, isValid: Bool) {
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

  @Test(arguments: [1, 2, 3, 4] as [UInt64]) func damagedFilesAreReadOrRefusedAsFoundationDoes(seed: UInt64) throws {
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

struct QuantityTextTests {
  @Test(
    arguments: [
      ("0s", 0, "0s"), ("90s", 90_000, "1m30s"), ("5m", 300_000, "5m"), ("1h30m", 5_400_000, "1h30m"),
      ("7d", 604_800_000, "7d"), ("250ms", 250, "250ms"), ("1d2h3m4s5ms", 93_784_005, "1d2h3m4s5ms"),
      ("36h", 129_600_000, "1d12h"), ("007s", 7_000, "7s"),
      ("9223372036854775807ms", Int64.max, "106751991167d7h12m55s807ms"),
    ] as [(String, Int64, String)])
  func readsDurations(text: String, milliseconds: Int64, canonical: String) throws {
    let duration = try #require(DurationText(text))
    #expect(duration.milliseconds == milliseconds)
    #expect(duration.duration == .milliseconds(milliseconds))
    #expect(duration.description == canonical)
    #expect(DurationText(canonical) == duration)
  }

  @Test(arguments: [
    "", "0", "5", "s", "-5s", "+5s", "1.5h", "5 m", " 5m", "5m ", "5M", "1w", "30m1h", "1s1s", "1ms1s", "5mm", "５s",
    "9223372036854775808ms", "106751991168d", "106751991167d24h", "99999999999999999999d",
  ])
  func refusesOtherDurations(text: String) { #expect(DurationText(text) == nil) }

  @Test(
    arguments: [
      (Duration.seconds(90), 90_000), (.microseconds(1_999), 1), (.seconds(-1), 0), (.seconds(Int64.max), Int64.max),
      (.seconds(Int64.min), 0),
    ] as [(Duration, Int64)])
  func keepsDurationsWithinTheRange(duration: Duration, milliseconds: Int64) {
    #expect(DurationText(duration).milliseconds == milliseconds)
  }

  @Test(
    arguments: [
      ("0B", 0, "0B"), ("1024B", 1_024, "1KiB"), ("512KiB", 524_288, "512KiB"), ("64MiB", 67_108_864, "64MiB"),
      ("1GB", 1_000_000_000, "1GB"), ("1GiB", 1_073_741_824, "1GiB"), ("1536MiB", 1_610_612_736, "1536MiB"),
      ("1000KiB", 1_024_000, "1000KiB"), ("3TB", 3_000_000_000_000, "3TB"), ("2TiB", 2_199_023_255_552, "2TiB"),
      ("5KB", 5_000, "5KB"), ("7MB", 7_000_000, "7MB"), ("1023B", 1_023, "1023B"),
      ("9223372036854775807B", Int64.max, "9223372036854775807B"),
    ] as [(String, Int64, String)])
  func readsSizes(text: String, bytes: Int64, canonical: String) throws {
    let size = try #require(ByteSizeText(text))
    #expect(size.bytes == bytes)
    #expect(size.description == canonical)
    #expect(ByteSizeText(canonical) == size)
  }

  @Test(arguments: [
    "", "1", "B", "-1B", "1.5GiB", "1 KiB", "1kb", "1kB", "1K", "1KiB1B", "64mib", "1PB", "9223372036854775808B",
    "8388608TiB",
  ])
  func refusesOtherSizes(text: String) { #expect(ByteSizeText(text) == nil) }

  @Test func everyLengthAndSizeReadsBack() {
    var value: Int64 = 1
    while value < Int64.max / 3 {
      for number in [value - 1, value, value + 1] {
        #expect(DurationText(DurationText(milliseconds: number).description)?.milliseconds == number)
        #expect(ByteSizeText(ByteSizeText(bytes: number).description)?.bytes == number)
      }
      value = value * 3 - value / 2 + 1
    }
  }
}
