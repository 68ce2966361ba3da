import CachePresentation
import Foundation
import EngineAPI
import Testing

@testable import CachectlTool
@testable import CacheConfiguration

struct ConfigurationSchemaTests {
  @Test func theExampleFileIsWhatTheDeclarationsSay() throws {
    let text = try String(contentsOf: Fixtures.exampleURL, encoding: .utf8)
    #expect(text == Fixtures.loader(engines: Fixtures.engines).example)
  }

  @Test func theExampleIsValidAndSaysTheDefaults() throws {
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

  @Test func theDefaultsAreOfTheirKind() {
    for key in Fixtures.keys {
      guard let value = key.json else { continue }
      let problems = Fixtures.problems(JSONText.text(.nested([(key.path, value)])))
      #expect(problems.isEmpty, "\(key.path)")
    }
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
