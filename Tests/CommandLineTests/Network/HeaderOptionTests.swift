import Foundation
import TestOrigin
import Testing

/// `--header`, `--user` and `--cookie` of `fetch url`, as in curl.
@Suite struct HeaderOptionTests {
  private func sent(_ arguments: String..., scratch: Scratch? = nil) async throws -> TestFields {
    let server = try TestServer(script: [TestResponse("hi")])
    expectSuccess(try await (scratch ?? Scratch()).cachectl(["fetch", "url", server.url] + arguments))
    return try #require(server.requests.first).fields
  }

  @Test func aFieldCanBeLeftOutOrEmpty() async throws {
    #expect(try await sent()["User-Agent"] != nil)
    let fields = try await sent("-H", "User-Agent:", "-H", "X-Empty;", "-H", "Accept:", "-H", "X-Full: a;")
    #expect(fields["User-Agent"] == nil && fields["Accept"] == nil)
    #expect(fields["X-Empty"]?.isEmpty == true && fields["X-Full"] == "a;")
    #expect(try await sent("-d", "a")["Content-Type"] != nil)
    #expect(try await sent("-d", "a", "-H", "content-type:")["Content-Type"] == nil)
  }

  @Test func aGivenFieldOverridesUserAndCookie() async throws {
    #expect(try await sent("-u", "me:pass")["Authorization"] == "Basic bWU6cGFzcw==")
    #expect(try await sent("-u", "me")["Authorization"] == "Basic bWU6")
    #expect(try await sent("-u", "me:pass", "-H", "authorization: Bearer t")["Authorization"] == "Bearer t")
    #expect(try await sent("-u", "me:pass", "-H", "authorization:")["Authorization"] == nil)
    #expect(try await sent("-b", "a=1; b=2", "-b", "c=3")["Cookie"] == "a=1; b=2; c=3")
    #expect(try await sent("-b", "a=1", "-H", "Cookie: b=2")["Cookie"] == "b=2")
  }

  @Test func fieldsComeFromFilesAndTheStandardInput() async throws {
    let scratch = try Scratch()
    try scratch.write("X-One: 1\r\n\r\n  \nX-Two:2\nX-Empty;\nUser-Agent:", to: "work/header")
    let fields = try await sent("-H", "@\(scratch.path("work/header"))", "-H", "X-Three: 3", scratch: scratch)
    #expect(fields["X-One"] == "1" && fields["X-Two"] == "2" && fields["X-Three"] == "3")
    #expect(fields["X-Empty"]?.isEmpty == true && fields["User-Agent"] == nil)
    // A pipe, as the shell makes one of <(command).
    let server = try TestServer(script: [TestResponse("hi")])
    let line = "printf 'X-One: 1\\n' | \(Binary.path) fetch url \(server.url) -H @-"
    expectSuccess(try await scratch.run("/bin/sh", ["-c", line]))
    #expect(server.requests.first?.fields["X-One"] == "1")
  }

  @Test(arguments: [
    ("X-One: 1\nhush hush\n", "line 2"), ("\n\n: hush\n", "line 3"), ("X One: hush", "line 1"),
    ("X-One: hush\u{1}", "line 1"), ("X-One: 1\n continued hush", "line 2"), ("{\"hush\": 1}", "line 1"),
  ])
  func aMalformedLineIsNamedAndNotShown(text: String, line: String) async throws {
    let (scratch, server) = (try Scratch(), try TestServer { _ in TestResponse("hi") })
    try scratch.write(text, to: "work/header")
    let run = try await scratch.cachectl("fetch", "url", server.url, "-H", "@\(scratch.path("work/header"))")
    expectFailure(run, status: 64, mentioning: [scratch.path("work/header"), line])
    #expect(!run.errors.contains("hush") && server.count == 0)
  }

  @Test func mistakesAreNamed() async throws {
    let (scratch, server) = (try Scratch(), try TestServer { _ in TestResponse("hi") })
    func run(_ arguments: String...) async throws -> Run {
      try await scratch.cachectl(["fetch", "url", server.url] + arguments, environment: ["EMPTY": ""])
    }
    expectFailure(
      try await run("-H", #"X-Key: {"env": "NO_SUCH"}"#), status: 64, mentioning: ["NO_SUCH", "--header X-Key"])
    expectFailure(try await run("-u", #"{"env": "EMPTY"}"#), status: 64, mentioning: ["EMPTY", "--user"])
    expectFailure(try await run("-b", #"{"env": "NO_SUCH"}"#), status: 64, mentioning: ["NO_SUCH", "--cookie"])
    expectFailure(try await run("-b", "cookies.txt"), status: 64, mentioning: ["--cookie", "name=value"])
    expectFailure(try await run("-H", "@\(scratch.path("none"))"), status: 74, mentioning: [scratch.path("none")])
    for header in ["X", ";", ": a", "", "@"] {
      expectFailure(try await run("-H", header), status: 64, mentioning: ["--header"])
    }
    #expect(server.count == 0)
  }

  /// Text that only looks like a name of a variable is sent unchanged.
  @Test(arguments: [#"{"env": "A", "b": 1}"#, #"{"envy": "A"}"#, "{}", #"{"env": 1}"#])
  func otherJSONIsAValue(value: String) async throws {
    #expect(try await sent("-H", "X-Key: \(value)")["X-Key"] == value)
  }
}
