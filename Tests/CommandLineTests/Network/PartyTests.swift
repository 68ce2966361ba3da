import Foundation
import TestOrigin
import Testing

/// A response for one user, tenant or virtual host is not shown to another.
@Suite struct PartyTests {
  private static let fresh: TestFields = ["Cache-Control": "max-age=600"]

  /// A server that responds with the fields that distinguish its clients.
  private func server(_ fields: TestFields = fresh) throws -> TestServer {
    try TestServer { request in
      let names = ["Host", "Authorization", "Cookie", "X-Tenant", "X-Empty", "User-Agent", "Content-Type"]
      let lines = names.compactMap { name in request.fields[name].map { "\(name)=\($0)" } }
      return TestResponse(fields: fields, lines.joined(separator: "|"))
    }
  }

  @Test func hostsHaveEntriesOfTheirOwn() async throws {
    let engine = "plist"
    let (scratch, server) = (try Scratch(), try server())
    let own = "127.0.0.1:\(server.port)"
    let url = "http://\(own)/vh"
    func get(_ arguments: String...) async throws -> String {
      let run = try await scratch.cachectl(["--backend", engine, "fetch", "url", url] + arguments)
      expectSuccess(run)
      return String(run.text.prefix { $0 != "|" })
    }
    for _ in 1...2 {
      #expect(try await get("-H", "Host: a.example") == "Host=a.example")
      #expect(try await get("-H", "Host: B.example:80") == "Host=B.example:80")
      #expect(try await get() == "Host=\(own)")
      #expect(try await get("-H", "Host: \(own)") == "Host=\(own)")
    }
    #expect(server.count == 3)
    let explained = try await scratch.cachectl(
      "--backend", engine, "explain", "url", url, "-H", "Host: a.example", "--output", "json"
    ).document()
    #expect(explained["action"] == "serve" && explained["key"]?.text?.contains("a.example") == true)
    #expect(explained["criteria"]?.elements.contains { $0["finding"]?.text?.contains(own) == true } == true)
    expectSuccess(try await scratch.cachectl("--backend", engine, "rm", "http://a.example/vh"))
    expectSuccess(
      try await scratch.cachectl("--backend", engine, "fetch", "url", url, "-H", "Host: b.example", "-d", "1"))
    #expect(
      try await scratch.cachectl("--backend", engine, "ls", "--output", "json").document()["entries"]?.elements.count
        == 1)
  }

  @Test(arguments: [["Host: a b"], ["Host: a/b"], ["Host: user@a"], ["Host: a", "host: b"], ["Host;"]])
  func aMalformedHostIsAMistake(headers: [String]) async throws {
    let (scratch, server) = (try Scratch(), try server())
    for command in [["fetch", "url"], ["explain", "url"]] {
      let arguments = command + [server.url] + headers.flatMap { ["-H", $0] }
      expectFailure(try await scratch.cachectl(arguments), status: 64, mentioning: ["Host"])
    }
    #expect(server.count == 0)
  }

  /// Ways to give a secret, for two parties.
  private static let ways: [(name: String, arguments: [String], file: String?, variable: Bool)] = [
    ("Cookie", ["-H", "Cookie: id=SECRET"], nil, false), ("Cookie", ["-b", "id=SECRET"], nil, false),
    ("Cookie", ["-b", "a=1", "--cookie", "id=SECRET"], nil, false),
    ("Authorization", ["-u", "me:SECRET"], nil, false), ("Authorization", ["--user", #"{"env": "TOKEN"}"#], nil, true),
    ("X-Tenant", ["-H", #"X-Tenant: {"env": "TOKEN"}"#], nil, true),
    ("X-Tenant", ["-H", "X-Tenant: {\"env\":TOKEN}"], nil, true),
    ("X-Tenant", ["-H", "@FILE"], "\r\nAccept: text/plain\r\n\r\nX-Tenant:SECRET\r\n", false),
    ("X-Tenant", ["-H", "@FILE"], "\u{FEFF}X-Tenant: SECRET", false),
  ]

  /// In a private cache each, and in a shared one a cookie and a name with its password.
  @Test(arguments: ways.indices.map { ($0, false) } + [(0, true), (3, true)])
  func eachPartyHasItsOwnEntry(way: Int, isShared: Bool) async throws {
    let way = Self.ways[way]
    let (scratch, server) = (try Scratch(), try server())
    func run(_ command: [String], _ secret: String) async throws -> Run {
      if let file = way.file { try scratch.write(file.replacing("SECRET", with: secret), to: "work/header") }
      let arguments = way.arguments.map {
        $0.replacing("SECRET", with: secret).replacing("FILE", with: scratch.path("work/header"))
      }
      return try await scratch.cachectl(
        ["--set", "cache.shared=\(isShared)"] + command + [server.url] + arguments,
        environment: way.variable ? ["TOKEN": secret] : [:])
    }
    for secret in ["alice-k3y", "bob-k3y", "alice-k3y", "bob-k3y"] {
      let answer = try await run(["-v", "fetch", "url"], secret)
      expectSuccess(answer)
      let sent =
        way.name == "Authorization"
        ? Data((way.variable ? "\(secret):" : "me:\(secret)").utf8).base64EncodedString() : secret
      #expect(answer.text.contains(sent), "\(answer.text)")
      #expect(!answer.errors.contains(secret))
    }
    #expect(server.count == (isShared ? 4 : 2))
    // A client without a secret gets no one's response.
    let plain = try await scratch.cachectl("--set", "cache.shared=\(isShared)", "fetch", "url", server.url)
    #expect(!plain.text.contains("k3y"))
    let explained = try await run(["explain", "url", "--output", "json"], "alice-k3y")
    let findings = try explained.document()["criteria"]?.elements.filter { $0["name"] == "credentials" } ?? []
    #expect(findings.count == 1 && findings[0]["finding"]?.text?.contains(way.name) == true, "\(explained.text)")
    #expect(!explained.text.contains("k3y"))
  }

  /// Neither a secret nor a plain digest of one is in a key, a store, an export or a message.
  @Test func noSecretIsInAnyKey() async throws {
    let engine = "sqlite"
    let scratch = try Scratch()
    let server = try TestServer { _ in TestResponse(fields: Self.fresh.replacing(with: ["Vary": "Cookie"]), "hi") }
    let fetch = ["--backend", engine, "-v", "fetch", "url", server.url, "-H", #"X-T: {"env": "TOKEN"}"#, "-b"]
    let other = try Scratch()
    var errors = ""
    for scratch in [scratch, other] {
      // Digests are in the keys as soon as there are two responses.
      for cookie in ["id=s3cret", "id=s3cret2"] {
        let run = try await scratch.cachectl(fetch + [cookie], environment: ["TOKEN": "t0ken"])
        expectSuccess(run)
        errors += run.errors
      }
    }
    let exports = try await [scratch, other].async { try await $0.cachectl("--backend", engine, "export").text }
    for text in exports + [errors] { #expect(!text.contains("s3cret") && !text.contains("t0ken")) }
    let keys = try exports.map { text in
      Set(try text.split(separator: "\n").compactMap { try JSON(Data($0.utf8))["key"]?.text })
    }
    #expect(keys.map(\.count) == [3, 3])
    #expect(keys[0].intersection(keys[1]).count == 1, "digests use the key of the home")
  }

  @Test func aConfiguredSecretSeparatesEntries() async throws {
    let scratch = try Scratch()
    let server = try TestServer { request in
      let page = OriginSettings.page.replacing("LOUISVILLE", with: request.fields["X-Tenant"] ?? "NOBODY")
      return TestResponse.json(page, fields: ["Cache-Control": "max-age=600"])
    }
    try scratch.configure(OriginSettings.cities(server.url, more: #", "headers": {"X-Tenant": {"env": "TOK"}}"#))
    for (number, tenant) in ["ALICE", "BOB"].enumerated() {
      for _ in 1...2 {
        let run = try await scratch.cachectl("fetch", "cities", "--output", "json", environment: ["TOK": tenant])
        expectSuccess(run)
        #expect(run.text.contains(tenant) && server.count == number + 1)
      }
    }
    let explained = try await scratch.cachectl(
      "explain", "cities", "--output", "json", environment: ["TOK": "ALICE"])
    #expect(explained.text.contains("X-Tenant") && !explained.text.contains("ALICE"))
    expectFailure(try await scratch.cachectl("fetch", "cities", "--offline", environment: ["TOK": "ALICE"]), status: 66)
  }

  @Test func secretsDoNotFollowARedirectionToAnotherServer() async throws {
    let (scratch, other) = (try Scratch(), try server())
    let server = try TestServer { _ in .redirect(to: other.url) }
    try scratch.write("X-Tenant: s3cret\n", to: "work/header")
    let run = try await scratch.cachectl(
      "fetch", "url", server.url, "-H", "@\(scratch.path("work/header"))", "-b", "a=s3cret", "-u", "me:s3cret",
      "-H", #"X-Empty: {"env": "TOKEN"}"#, environment: ["TOKEN": "s3cret"])
    expectSuccess(run)
    #expect(
      server.requests.first?.fields["X-Tenant"] == "s3cret" && server.requests.first?.fields["X-Empty"] == "s3cret")
    #expect(run.text.hasPrefix("Host=127.0.0.1:\(other.port)|User-Agent="), "\(run.text)")
  }
}

extension Collection where Element: Sendable {
  fileprivate func async<Output>(_ transform: (Element) async throws -> Output) async rethrows -> [Output] {
    var outputs: [Output] = []
    for element in self { outputs.append(try await transform(element)) }
    return outputs
  }
}
