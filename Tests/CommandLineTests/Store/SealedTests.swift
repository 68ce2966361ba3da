import Foundation
import TestOrigin
import Testing

/// A sealed store that somebody without the key writes to, as a user of the program sees it.
@Suite struct SealedTests {
  private static let key = ["CACHE_KEY": String(repeating: "0a", count: 32)]
  private static let keys = key.merging(["NEW_KEY": String(repeating: "0b", count: 32)]) { $1 }

  private func configure(
    _ scratch: Scratch, _ engine: String = "sqlite", _ sealed: String = #""key": {"env": "CACHE_KEY"}"#,
    origins: String = ""
  ) throws {
    try scratch.configure(
      text: """
        {"backend": "\(engine)", "cache": {"transforms": ["zstd", "sealed"]},
         "transforms": {"sealed": {\(sealed)}}, "origin": {\(origins)}}
        """)
  }

  /// The members of the only line of an export.
  private func exported(_ scratch: Scratch) async throws -> [String: Any] {
    let run = try await scratch.cachectl("export", "--namespace", "cities")
    let line = try #require(run.lines.first)
    return try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
  }

  /// Imports `entry` with the right checksum, and replaces the stored one.
  private func forge(_ scratch: Scratch, _ entry: [String: Any]) async throws {
    var entry = entry
    entry["checksum"] = nil
    try scratch.write(try JSONSerialization.data(withJSONObject: entry), to: "forged")
    expectSuccess(try await scratch.cachectl("import", scratch.path("forged"), "--overwrite"))
  }

  private static let forgedPage = #"{"items":[],"page":0,"totalItems":0,"totalPages":1}"#

  enum Forgery: CaseIterable {
    case plain, freshUntil, retainUntil, contentType, etag, seal

    var kind: JSON { self == .plain ? "notSealed" : "notAuthentic" }

    func changed(_ entry: [String: Any]) throws -> [String: Any] {
      var (entry, attributes) = (entry, try #require(entry["attributes"] as? [String: Any]))
      switch self {
      case .plain:
        for name in [":transforms", ":hidden", ":seal"] { attributes[name] = nil }
        entry["payloadBase64"] = nil
        entry["payload"] = SealedTests.forgedPage
      case .freshUntil: entry["freshUntil"] = "2099-01-01T00:00:00.000Z"
      case .retainUntil: entry["retainUntil"] = "2099-01-01T00:00:00.000Z"
      case .contentType: entry["contentType"] = "text/html"
      case .etag: attributes["etag"] = "\"forged\""
      case .seal: attributes[":seal"] = nil
      }
      entry["attributes"] = attributes
      return entry
    }
  }

  @Test(arguments: Contract.inTurn(Forgery.allCases))
  func aForgedEntryIsFetchedAgain(engine: String, forgery: Forgery) async throws {
    let scratch = try Scratch()
    try configure(scratch, engine)
    let fetched = try await scratch.cachectl("fetch", "cities", "--output", "json", environment: Self.key).document()
    try await forge(scratch, try forgery.changed(try await exported(scratch)))
    for command in [["fetch", "cities", "--offline"], ["show", Contract.citiesKey]] {
      expectFailure(
        try await scratch.cachectl(command, environment: Self.key), status: 65, mentioning: [Contract.citiesKey])
    }
    let explained = try await scratch.cachectl("explain", "cities", "--output", "json", environment: Self.key)
    #expect(try explained.document()["reason"] == "the cache cannot be read")
    let checked = try await scratch.cachectl("verify", "--output", "json", environment: Self.key)
    #expect(checked.status == 65)
    let issue = try #require(try checked.document()["issues"]?.elements.first)
    #expect(issue["key"]?.text == Contract.citiesKey && issue["kind"] == forgery.kind)
    let again = try await scratch.cachectl("fetch", "cities", "--output", "json", environment: Self.key)
    expectSuccess(again)
    #expect(again.errors.contains(#"{"warning":"#), "\(again.errors)")
    #expect(try again.document()["source"] == "origin")
    #expect(try again.document()["items"] == fetched["items"])
    let last = try await scratch.cachectl("fetch", "cities", "--offline", "--output", "json", environment: Self.key)
    expectSuccess(last)
    #expect(!last.errors.contains("warning"), "\(last.errors)")
    #expect(try last.document()["items"] == fetched["items"])
    expectSuccess(try await scratch.cachectl("verify", environment: Self.key))
  }

  @Test func aRepairDropsForgedEntries() async throws {
    let scratch = try Scratch()
    try configure(scratch)
    expectSuccess(try await scratch.cachectl("fetch", "cities", environment: Self.key))
    try await forge(scratch, try Forgery.plain.changed(try await exported(scratch)))
    let run = try await scratch.cachectl("verify", "--repair", "--output", "json", environment: Self.key)
    #expect(run.status == 65)
    #expect(try run.document()["repair"]?["lost"]?.elements.map { $0["kind"] } == ["notSealed"])
    expectSuccess(try await scratch.cachectl("verify", environment: Self.key))
  }

  @Test func withoutTheKeyACheckReportsTheOmittedParts() async throws {
    let scratch = try Scratch()
    try configure(scratch)
    expectSuccess(try await scratch.cachectl("fetch", "cities", environment: Self.key))
    let run = try await scratch.cachectl("verify")
    expectSuccess(run)
    #expect(run.errors.contains("1 sealed entry without a key: only checksums checked"), "\(run.errors)")
    #expect(try await scratch.cachectl("verify", "--output", "json").document()["unauthenticated"] == 1)
    let complete = try await scratch.cachectl("verify", "--output", "json", environment: Self.key)
    #expect(try complete.document()["unauthenticated"] == nil)
  }

  @Test func softRemovalNeedsNoKey() async throws {
    let scratch = try Scratch()
    try configure(scratch)
    expectSuccess(try await scratch.cachectl("fetch", "cities", environment: Self.key))
    expectSuccess(try await scratch.cachectl("rm", Contract.citiesKey, "--soft"))
    #expect(
      try await scratch.cachectl("ls", "--output", "json").document()["entries"]?.elements.first?["state"] == "stale")
    let run = try await scratch.cachectl("fetch", "cities", "--output", "json", environment: Self.key)
    expectSuccess(run)
    #expect(!run.errors.contains("warning"), "\(run.errors)")
    expectSuccess(try await scratch.cachectl("verify", environment: Self.key))
  }

  @Test func aConfirmationDoesNotChangeThePayload() async throws {
    let (scratch, server) = (try Scratch(), try OriginSettings.cityServer(freshFor: 0))
    try configure(scratch, origins: OriginSettings.cities(server.url))
    let first = try await scratch.cachectl("fetch", "cities", "--output", "json", environment: Self.key)
    expectSuccess(first)
    let before = try await exported(scratch)
    let second = try await scratch.cachectl("fetch", "cities", "--output", "json", environment: Self.key).document()
    #expect(second["source"] == "cache" && second["revalidated"] == true)
    #expect(try second["items"] == first.document()["items"])
    let after = try await exported(scratch)
    #expect(after["payloadBase64"] as? String == before["payloadBase64"] as? String)
    let hidden = [before, after].map { ($0["attributes"] as? [String: Any])?[":hidden"] as? String }
    #expect(hidden[0] != nil && hidden[1] != nil && hidden[0] != hidden[1])
    expectSuccess(try await scratch.cachectl("verify", environment: Self.key))
  }

  /// The new key comes first. The old one can be removed when no entry uses it.
  @Test func aKeyCanBeReplaced() async throws {
    let scratch = try Scratch()
    func fetch(_ page: String, _ options: String...) async throws -> Run {
      try await scratch.cachectl(
        ["fetch", "cities", "--page", page, "--output", "json"] + options, environment: Self.keys)
    }
    try configure(scratch)
    expectSuccess(try await fetch("0"))
    expectSuccess(try await scratch.cachectl("fetch", "movies", "--query", "heat", environment: Self.keys))
    try configure(scratch, "sqlite", #""keys": [{"env": "NEW_KEY"}, {"env": "CACHE_KEY"}]"#)
    expectSuccess(try await fetch("0", "--offline"))
    expectSuccess(try await fetch("1"))
    let search = try await scratch.cachectl("fetch", "movies", "--query", "love", environment: Self.keys)
    expectSuccess(search)
    #expect(!search.errors.contains("warning"), "\(search.errors)")
    #expect(try await scratch.cachectl("queries", environment: Self.keys).lines.count >= 2)
    try configure(scratch, "sqlite", #""keys": [{"env": "NEW_KEY"}]"#)
    expectSuccess(try await fetch("1", "--offline"))
    expectFailure(try await fetch("0", "--offline"), status: 77, mentioning: ["sealed with another key"])
    let again = try await fetch("0")
    expectSuccess(again)
    #expect(again.errors.contains("sealed with another key"), "\(again.errors)")
    let last = try await fetch("0", "--offline")
    expectSuccess(last)
    #expect(!last.errors.contains("warning"), "\(last.errors)")
  }

  /// A store from before `sealed` is used up with `required` false.
  @Test func aStoreIsMovedOver() async throws {
    let scratch = try Scratch()
    expectSuccess(try await scratch.cachectl("fetch", "cities"))
    try configure(scratch, "sqlite", #""key": {"env": "CACHE_KEY"}, "required": false"#)
    let offline = ["fetch", "cities", "--offline"]
    expectSuccess(try await scratch.cachectl(offline, environment: Self.key))
    expectSuccess(try await scratch.cachectl("verify", environment: Self.key))
    try configure(scratch)
    let refused = try await scratch.cachectl(offline, environment: Self.key)
    expectFailure(refused, status: 65, mentioning: ["is not sealed", "'required'"])
    expectFailure(
      try await scratch.cachectl(offline + ["--output", "json"], environment: Self.key), status: 65,
      mentioning: [#""code":"notSealed""#])
    let plain = try await scratch.cachectl("verify", environment: Self.key)
    #expect(plain.status == 65)
    // Neither the key nor another check is needed to say so.
    #expect(try await scratch.cachectl("verify").status == 65)
  }

  private static let mistakes: [(sealed: String, words: [String])] = [
    (#""key": {"env": "CACHE_KEY"}, "keys": [{"env": "NEW_KEY"}]"#, ["both 'key' and 'keys'"]),
    (#""keys": []"#, ["transforms.sealed.keys", "list"]),
    (#""keys": {"env": "CACHE_KEY"}"#, ["transforms.sealed.keys", "list of secrets"]),
    (#""keys": ["0a0a"]"#, ["'transforms.sealed.keys[0]' is not written as a secret"]),
    (#""keys": [{"env": "CACHE_KEY"}, {"env": "MISSING"}]"#, ["MISSING"]),
    (#""keys": [{"env": "CACHE_KEY"}, {"env": "SHORT"}]"#, ["SHORT", "not 32 bytes"]),
    (#""key": {"env": "CACHE_KEY"}, "required": "no""#, ["transforms.sealed.required", "boolean"]),
    (#""key": {"env": "CACHE_KEY"}, "require": true"#, ["transforms.sealed.require", "required"]),
  ]

  @Test(arguments: mistakes)
  func aMistakeInTheSectionIsNamed(sealed: String, words: [String]) async throws {
    let scratch = try Scratch()
    try configure(scratch, "sqlite", sealed)
    let environment = Self.keys.merging(["SHORT": "abc"]) { $1 }
    let run = try await scratch.cachectl("fetch", "cities", environment: environment)
    expectFailure(run, status: 78, mentioning: words)
    #expect(!run.errors.contains("0a0a"), "a secret is never shown")
  }

  @Test func theKeysAreShownByTheirVariables() async throws {
    let scratch = try Scratch()
    try configure(scratch, "sqlite", #""keys": [{"env": "NEW_KEY"}, {"env": "MISSING"}]"#)
    let shown = try await scratch.cachectl("config", "show", environment: Self.keys)
    expectSuccess(shown)
    #expect(shown.text.contains("NEW_KEY") && !shown.text.contains("0b0b"))
    let flag = #"transforms.sealed.keys=[{"env": "CACHE_KEY"}]"#
    expectSuccess(try await scratch.cachectl("fetch", "cities", "--set", flag, environment: Self.keys))
  }
}
