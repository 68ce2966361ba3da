import Foundation
import TestOrigin
import Testing

/// The policies, when the origin is a server.
@Suite struct HTTPPolicyTests {
  private static func command(_ engine: String, _ options: String...) -> [String] {
    ["--backend", engine, "fetch", "cities", "--output", "json"] + options
  }

  @Test func aFreshResponseAsksNoServer() async throws {
    let engine = "plist"
    let (scratch, server) = (try Scratch(), try OriginSettings.cityServer())
    try scratch.configure(OriginSettings.cities(server.url))
    for source in ["origin", "cache", "cache"] as [JSON] {
      #expect(try await scratch.cachectl(Self.command(engine)).document()["source"] == source)
    }
    #expect(server.count == 1)
    for (number, options) in [["--refresh"], ["--policy", "network-only"]].enumerated() {
      let refreshed = try await scratch.cachectl(Self.command(engine) + options).document()
      #expect(refreshed["source"] == "origin" && server.count == number + 2, "\(options)")
    }
  }

  @Test func staleEntriesAreConfirmedByA304() async throws {
    let engine = "sqlite"
    let (scratch, server) = (try Scratch(), try OriginSettings.cityServer(freshFor: 0))
    try scratch.configure(OriginSettings.cities(server.url))
    let first = try await scratch.cachectl(Self.command(engine)).document()
    let second = try await scratch.cachectl(Self.command(engine)).document()
    #expect(second["source"] == "cache" && second["revalidated"] == true && second["items"] == first["items"])
    #expect(server.requests.map { $0.fields["If-None-Match"] } == [nil, "\"cities\""])
  }

  @Test(arguments: [0, 600])
  func cachedThenNetworkConfirmsByA304AndOutlivesTheServer(freshFor age: Int) async throws {
    let scratch = try Scratch()
    var server: TestServer? = try OriginSettings.cityServer(freshFor: age)
    try scratch.configure(OriginSettings.cities(server?.url ?? ""))
    let command = Self.command("sqlite", "--policy", "cached-then-network")
    let first = try await scratch.cachectl(command).document()
    let confirmed = try await scratch.cachectl(command).documents()
    #expect(confirmed.map { $0["source"] } == ["cache", "cache"])
    #expect(confirmed.map { $0["revalidated"] } == [false, true])
    #expect(confirmed.map { $0["items"] } == [first["items"], first["items"]])
    #expect(server?.requests.map { $0.fields["If-None-Match"] } == [nil, "\"cities\""])
    server = nil
    let run = try await scratch.cachectl(command)
    expectSuccess(run)
    let alone = try run.documents()
    #expect(alone.map { $0["stale"] } == [.boolean(age == 0), .boolean(age == 0)])
    #expect(alone.map { $0["revalidated"] } == [false, false])
    #expect(alone.map { $0["items"] } == [first["items"], first["items"]])
    #expect(run.errorLines.count == 1 && run.errors.contains("127.0.0.1"), "\(run.errors)")
  }

  @Test func offlineConnectsToNoServer() async throws {
    let engine = "lmdb"
    let (scratch, server) = (try Scratch(), try OriginSettings.cityServer(freshFor: 0))
    try scratch.configure(OriginSettings.cities(server.url))
    expectFailure(try await scratch.cachectl(["--offline", "--backend", engine, "fetch", "cities"]), status: 66)
    #expect(server.connectionCount == 0)
    expectSuccess(try await scratch.cachectl(Self.command(engine)))
    let connections = server.connectionCount
    for options in [["--offline"], ["--policy", "cache-only"]] {
      let offline = try await scratch.cachectl(Self.command(engine) + options).document()
      #expect(offline["source"] == "cache" && offline["stale"] == true, "\(options)")
    }
    #expect(server.connectionCount == connections)
  }

  @Test func staleEntriesAreServedIfTheServerFails() async throws {
    let engine = "plist"
    let (scratch, server) = (try Scratch(), try OriginSettings.cityServer(freshFor: 0))
    try scratch.configure(OriginSettings.cities(server.url))
    let first = try await scratch.cachectl(Self.command(engine)).document()
    server.override(.html(500))
    let run = try await scratch.cachectl(Self.command(engine))
    expectSuccess(run)
    let document = try run.document()
    #expect(document["source"] == "cache" && document["stale"] == true && document["items"] == first["items"])
    #expect(run.errorLines.count == 1 && run.errors.contains("500"), "\(run.errors)")
    server.override(.html(401))
    expectFailure(try await scratch.cachectl("--backend", engine, "fetch", "cities"), status: 77)
  }

  @Test(arguments: ["0", "1", nil])
  func aBusyServerGetsTheRequestAgain(retryAfter: String?) async throws {
    let (scratch, server) = (try Scratch(), try OriginSettings.cityServer())
    try scratch.configure(OriginSettings.cities(server.url))
    server.enqueue([.tooManyRequests(retryAfter: retryAfter)])
    let run = try await scratch.cachectl(Self.command("sqlite"))
    expectSuccess(run)
    #expect(try run.document()["source"] == "origin" && server.count == 2 && run.errors.isEmpty)
  }

  @Test func aServerThatWantsToBeLeftAloneForLongIsNotAskedAgain() async throws {
    let (scratch, server) = (try Scratch(), try TestServer(script: [.tooManyRequests(retryAfter: "3600")]))
    try scratch.configure(OriginSettings.cities(server.url))
    let run = try await scratch.cachectl("fetch", "cities")
    expectFailure(run, status: 69, mentioning: ["3600 seconds"])
    #expect(server.count == 1)
  }
}
