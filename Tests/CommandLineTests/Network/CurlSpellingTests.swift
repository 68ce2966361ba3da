import Foundation
import TestOrigin
import Testing

/// `fetch URL` with an option of curl sends the request that curl sends, and prints or writes what curl does.
@Suite struct CurlSpellingTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let arguments: [String]
    var path = "/items/data.json"
    /// The file that is written, in the working directory.
    var file: String?

    var testDescription: String { arguments.joined(separator: " ") }

    init(_ arguments: String..., path: String = "/items/data.json", file: String? = nil) {
      self.arguments = arguments
      self.path = path
      self.file = file
    }
  }

  static let cases = [
    Case("-fsSL"), Case("--fail", "--silent", "--show-error", "--location"), Case("-sSf", "-L"),
    Case("-X", "DELETE"), Case("--request", "PUT", "-d", "a"), Case("-I"), Case("--head"), Case("-i"),
    Case("--include"),
    Case("-H", "X-One: 1", "--header", "Accept: text/plain"), Case("-H", "Accept:"), Case("-H", "X-Empty;"),
    Case("-A", "probe/1.0"), Case("--user-agent", "probe/1.0"), Case("-A", "a", "-H", "User-Agent: b"),
    Case("-e", "https://example.org/from"), Case("--referer", "https://example.org/from"),
    Case("-u", "me:secret"), Case("--user", "me:se:cret"), Case("-b", "a=1; b=2"), Case("--cookie", "a=1"),
    Case("-d", "a=1"), Case("--data", "a=1", "-d", "b=2"), Case("-d", "@text"), Case("-d", "@text", "-d", "c=3"),
    Case("-d", ""), Case("-d", "a", "-H", "Content-Type: text/plain"), Case("-d", "a", "-H", "Content-Type:"),
    Case("--data-raw", "@text"), Case("--data-binary", "@text"), Case("--data-binary", "a=1", "--data-binary", "@text"),
    Case("--data-urlencode", "a b&c"), Case("--data-urlencode", "=a=b"), Case("--data-urlencode", "name=ü ~-._*"),
    Case("--data-urlencode", "@text"), Case("--data-urlencode", "name@text", "--data-urlencode", "x=y@z"),
    Case("--json", #"{"a": 1}"#), Case("--json", "@text"), Case("--json", "[1,", "--json", "2]"),
    Case("--json", "{}", "-H", "Accept: text/plain", "-H", "content-type: application/x"),
    Case("-G", "-d", "a=1", "--data-urlencode", "b=c d"), Case("--get", "-d", "a=1", path: "/find?x=y"),
    Case("-G", "-I", "-d", "a=1"), Case("-G"), Case("-X", "QUERY", "-d", "a=1"),
    Case("--compressed"), Case("-m", "20"), Case("--max-time", "20"), Case("--max-redirs", "3"), Case("--retry", "1"),
    Case("--path-as-is", path: "/a/../b"), Case("-k"), Case("-x", ""),
    Case("-o", "out", file: "out"), Case("-oout", file: "out"), Case("-o", "/dev/null"), Case("-o", "-"),
    Case("-O", file: "data.json"), Case("--remote-name", path: "/a%20b.txt?c=d", file: "a%20b.txt"),
  ]

  @Test(arguments: cases) func theRequestAndTheOutputAreThoseOfCurl(test: Case) async throws {
    let server = try TestServer { request in
      TestResponse(fields: ["X-Field": "1"], request.method == "HEAD" ? "" : "content of \(request.target)\n")
    }
    var written: [Data?] = []
    var outputs: [String] = []
    for program in [["/usr/bin/curl", "-sS"], [Binary.path, "fetch"]] {
      let scratch = try Scratch()
      try scratch.write("one=1\r\ntwo=2 & more\n", to: "work/text")
      let run = try await scratch.run(program[0], program.dropFirst() + test.arguments + [server.url + test.path])
      #expect(run.status == 0, "\(run.errors)")
      outputs.append(run.text)
      written.append(test.file.flatMap { try? scratch.read("work/\($0)") })
    }
    try #require(server.requests.count == 2)
    let (theirs, ours) = (server.requests[0], server.requests[1])
    #expect(ours.method == theirs.method && ours.target == theirs.target)
    #expect(String(decoding: ours.body, as: UTF8.self) == String(decoding: theirs.body, as: UTF8.self))
    // Without the field any type is acceptable, as with curl's */* (RFC 9110, section 12.5.1).
    if theirs.fields["Accept"] != "*/*" { #expect(ours.fields["Accept"] == theirs.fields["Accept"]) }
    for name in ["Content-Type", "Content-Length", "Authorization", "Cookie", "Referer", "X-One", "X-Empty"] {
      #expect(ours.fields[name] == theirs.fields[name], "\(name)")
    }
    #expect((ours.fields["Accept-Encoding"] == nil) == (theirs.fields["Accept-Encoding"] == nil))
    if theirs.fields["User-Agent"]?.hasPrefix("curl/") != true {
      #expect(ours.fields["User-Agent"] == theirs.fields["User-Agent"])
    }
    #expect(Self.lines(outputs[1]) == Self.lines(outputs[0]))
    #expect(written[0] == written[1] && (written[0] == nil) == (test.file == nil))
  }

  /// The lines without the field of the cache, and without the date: the two responses can be from different seconds.
  private static func lines(_ output: String) -> [Substring] {
    output.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      .filter { !$0.hasPrefix("Date:") && !$0.hasPrefix("Cache-Status:") && !$0.hasPrefix("Age:") }
  }

  @Test func theWordURLCanBeLeftOut() async throws {
    let (scratch, server) = (try Scratch(), try TestServer { TestResponse($0.target) })
    #expect(try await scratch.cachectl("fetch", "\(server.url)/a").text == "/a")
    #expect(try await scratch.cachectl("fetch", "-fsSL", "\(server.url)/b").text == "/b")
    #expect(try await scratch.cachectl("fetch", "--", "\(server.url)/c").text == "/c")
    #expect(try await scratch.cachectl("fetch", "\(server.url)/d", "-o", "/dev/stdout").text == "/d")
    expectFailure(try await scratch.cachectl("fetch", "citis"), status: 64, mentioning: ["citis", "cities"])
    expectFailure(
      try await scratch.cachectl("fetch", "example.org"), status: 64, mentioning: ["example.org", "https:", "cities"])
    expectFailure(try await scratch.cachectl("fetch"), status: 64, mentioning: ["missing"])
  }

  @Test func mistakesAreNamed() async throws {
    let (scratch, server) = (try Scratch(), try TestServer { _ in TestResponse("hi") })
    for (arguments, mention) in [
      (["--json", "{}", "-d", "a"], "--json"), (["-O", "-o", "x"], "--remote-name"), (["-O"], "--remote-name"),
      (["-I", "-d", "a"], "--head"), (["-G", "--json", "{}"], "--json"), (["-d", "@"], "empty"),
    ] {
      let run = try await scratch.cachectl(["fetch", "\(server.url)/"] + arguments)
      expectFailure(run, status: 64, mentioning: [mention])
    }
    #expect(server.count == 0)
  }
}
