import Foundation
import TestOrigin
import Testing

/// `fetch URL` with an option of curl sends the same request as curl, and prints or writes the same output.
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
    Case("-fsSL"), Case("-fsSLo", "out", file: "out"), Case("-XPUT", "-d", "a"), Case("-XGET"),
    Case("--fail", "--silent", "--show-error", "--location"), Case("-sSf", "-L"),
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
    Case("-G", "-I", "-d", "a=1"), Case("-G"), Case("-G", "-d", "a", path: "/find?"), Case("-X", "QUERY", "-d", "a=1"),
    Case("-XGET", "-d", "a=1"), Case("-X", "GET", "--json", #"{"query": {}}"#),
    Case("-X", "GET", "--data-binary", "@text"),
    Case("--data-ascii", "a=1"), Case("-H", "@fields"), Case("-H", "Name:v", "-H", "Name: w"),
    Case("-H", "Expect:", "-d", "a"),
    Case("-m", "0"), Case("--connect-timeout", "20"), Case("--connect-timeout", "0"), Case("-4"), Case("-4sS"),
    Case("--ipv4"),
    Case("-N"), Case("--no-buffer"), Case("-g"), Case("--globoff"), Case("--basic", "-u", "a:b"),
    Case("--fail-with-body"),
    Case("-D", "-"), Case("-D", "head", file: "head"), Case("--dump-header", "-", "-o", "/dev/null"),
    Case("-sD", "-", "-o", "out", file: "out"), Case("-w", #"%{http_code} %{response_code}\n"#, "-o", "/dev/null"),
    Case("--write-out", #"\t%%|%{url_effective}|%{content_type}|%header{x-field}|%header{none}|\r\n"#),
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
    var outputs: [Data] = []
    for program in [["/usr/bin/curl", "-sS"], [Binary.path, "fetch"]] {
      let scratch = try Scratch()
      try scratch.write("one=1\r\ntwo=2 & more\n", to: "work/text")
      try scratch.write("X-One: 1\nX-Empty;\n", to: "work/fields")
      let run = try await scratch.run(program[0], program.dropFirst() + test.arguments + [server.url + test.path])
      #expect(run.status == 0, "\(run.errors)")
      outputs.append(run.output)
      written.append(test.file.flatMap { try? scratch.read("work/\($0)") })
    }
    try #require(server.requests.count == 2)
    let (theirs, ours) = (server.requests[0], server.requests[1])
    #expect(ours.method == theirs.method && ours.target == theirs.target)
    #expect(String(decoding: ours.body, as: UTF8.self) == String(decoding: theirs.body, as: UTF8.self))
    // Without the field any type is acceptable, as with curl's */* (RFC 9110, section 12.5.1).
    if theirs.fields["Accept"] != "*/*" { #expect(ours.fields["Accept"] == theirs.fields["Accept"]) }
    let names = { (request: TestRequest) in
      Set(request.fields.lines.map(\.name)).subtracting(theirs.fields["Accept"] == "*/*" ? ["Accept"] : [])
    }
    #expect(names(ours) == names(theirs))
    for name in names(theirs).subtracting(["User-Agent", "Accept-Encoding"]) {
      #expect(
        ours.fields.lines.filter { $0.name == name }.map(\.value)
          == theirs.fields.lines.filter { $0.name == name }.map(\.value))
    }
    if theirs.fields["User-Agent"]?.hasPrefix("curl/") != true {
      #expect(ours.fields["User-Agent"] == theirs.fields["User-Agent"])
    }
    #expect(Self.lines(outputs[1]) == Self.lines(outputs[0]))
    #expect(written[0].map(Self.lines) == written[1].map(Self.lines) && (written[0] == nil) == (test.file == nil))
  }

  /// The lines without the field of the cache, and without the date: the two responses can be from different seconds.
  private static func lines(_ output: Data) -> [String] {
    output.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map {
      String(decoding: $0, as: UTF8.self)
    }
    .filter { !$0.hasPrefix("Date:") && !$0.hasPrefix("Cache-Status:") && !$0.hasPrefix("Age:") }
  }
}
