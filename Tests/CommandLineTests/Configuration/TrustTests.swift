import Foundation
import TestOrigin
import Testing

/// A configuration that was merely found in the working folder runs no code and sends nothing until it is trusted.
@Suite struct TrustTests {
  private static let commands: [(arguments: [String], status: Int32)] = [
    (["ls"], 78), (["fetch", "cities"], 78), (["rm", "--all", "--yes"], 78), (["stats", "--backend", "lmdb"], 78),
    (["config", "show"], 78), (["config", "show", "--origin"], 78), (["config", "validate"], 78), (["doctor"], 78),
    (["backends"], 78), (["backends", "show", "folder"], 78), (["backends", "test", "folder"], 78),
    (["migrate", "--from", "sqlite", "--to", "folder"], 78), (["completion", "bash"], 0), (["config", "path"], 0),
    (["config", "trust", "--list"], 0), (["help"], 0), (["__complete", "keys", ""], 0),
  ]

  @Test(arguments: [
    #"{"backend": "PLUGINS/libcachectl-folder.so"}"#,
    #"{"backend": "folder", "plugins": {"searchPath": ["PLUGINS"]}}"#,
  ])
  func noLibraryIsLoaded(text: String) async throws {
    let scratch = try Scratch()
    try scratch.install(EngineLibraries.marking, as: "folder")
    try scratch.write(text.replacing("PLUGINS", with: scratch.path("plugins")), to: "work/cachectl.json")
    for (arguments, status) in Self.commands {
      let run = try await scratch.cachectl(arguments)
      #expect(run.status == status, "\(arguments): \(run.text)\(run.errors)")
      #expect(!scratch.exists("work/marked"), "\(arguments)")
    }
    expectFailure(
      try await scratch.cachectl("ls"), status: 78,
      mentioning: ["work/cachectl.json is not trusted", "backend", "cachectl config trust /"])
    #expect(!scratch.exists("home"))

    let trusting = try await scratch.cachectl("config", "trust", "--output", "json")
    expectSuccess(trusting)
    #expect(try trusting.document()["settings"]?.elements.first?["key"] == "backend")
    #expect(!scratch.exists("work/marked"), "Trusting a file does not run it")
    expectSuccess(try await scratch.cachectl("ls"))
    #expect(scratch.exists("work/marked"))
    let doctor = try await scratch.cachectl("doctor")
    #expect(doctor.text.contains("cachectl.json is valid (trusted)"), "\(doctor.text)")
  }

  @Test func noSecretIsSent() async throws {
    let server = try OriginSettings.cityServer()
    let scratch = try Scratch()
    let headers = #", "headers": {"X-Key": {"env": "AWS_SECRET_ACCESS_KEY"}}"#
    try scratch.write(
      #"{"origin": {\#(OriginSettings.cities(server.url, more: headers))}}"#, to: "work/cachectl.json")
    let environment = ["AWS_SECRET_ACCESS_KEY": "hush"]
    let refused = try await scratch.cachectl("fetch", "cities", environment: environment)
    expectFailure(
      refused, status: 78, mentioning: ["origin.cities.kind, origin.cities.baseURL", "origin.cities.headers"])
    #expect(server.requests.isEmpty)
    expectSuccess(try await scratch.cachectl("config", "trust", scratch.path("work/cachectl.json")))
    expectSuccess(try await scratch.cachectl("fetch", "cities", environment: environment))
    #expect(server.requests.first?.fields["X-Key"] == "hush")
  }

  @Test func trustHoldsForPathAndContentUntilItIsRevoked() async throws {
    let scratch = try Scratch()
    let text = #"{"queries": {"maxCount": 2}}"#
    try scratch.write(text, to: "work/cachectl.json")
    expectSuccess(try await scratch.cachectl("config", "trust"))
    let shown = try await scratch.cachectl("config", "show", "--origin", "--output", "json").document()
    #expect(shown["trust"] == "trusted" && shown["file"]?.text?.hasSuffix("work/cachectl.json") == true)
    let records = scratch.names(below: "user/.local/state/cachectl/trusted")
    #expect(records.count == 1)
    let record = "user/.local/state/cachectl/trusted/\(try #require(records.first))"
    let mode = try FileManager.default.attributesOfItem(atPath: scratch.path(record))[.posixPermissions]
    #expect(mode as? Int == 0o600)

    try scratch.write(text + "\n", to: "work/cachectl.json")
    expectFailure(try await scratch.cachectl("queries"), status: 78, mentioning: ["has changed since it was trusted"])
    func states() async throws -> [JSON?] {
      try await scratch.cachectl("config", "trust", "--list", "--output", "json").document()["files"]?.elements
        .map { $0["state"] } ?? []
    }
    #expect(try await states() == ["changed"])
    expectSuccess(try await scratch.cachectl("config", "trust"))
    #expect(try await states() == ["trusted"])
    // A record that others may have written counts for nothing.
    try scratch.setMode(0o666, of: record)
    #expect(try await scratch.cachectl("queries").status == 78)
    try scratch.setMode(0o600, of: record)
    expectSuccess(try await scratch.cachectl("config", "trust", "--revoke"))
    #expect(try await states() == [])
    #expect(try await scratch.cachectl("queries").status == 78)
    #expect(try await scratch.cachectl("config", "trust", "--revoke").status == 66)
    expectSuccess(try await scratch.cachectl("queries", "--config", "cachectl.json"))
  }
}
