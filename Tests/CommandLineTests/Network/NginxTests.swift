import Foundation
import TestOrigin
import Testing

/// nginx, whose responses `fetch url` prints byte for byte as the tool `curl` does. One server has all cases.
@Suite struct NginxTests {
  /// A request, by the arguments that both tools take.
  private struct Case {
    let path: String
    var arguments: [String] = ["--include"]
    /// Whether the second response, which comes from the cache if possible, is compared too: the cache keeps no
    /// trailers.
    var isAskedAgain: Bool { !path.contains("trailers") }

    init(_ path: String, _ arguments: String...) {
      self.path = path
      self.arguments += arguments
    }

    static let all = [
      Case("/bytes.bin"), Case("/text.txt"), Case("/bytes.bin", "-I"), Case("/missing"),
      Case("/gzip/text.txt", "-H", "Accept-Encoding: gzip"), Case("/gzip/text.txt"),
      Case("/trailers/text.txt"), Case("/trailers/gzip.txt", "-H", "Accept-Encoding: gzip"),
      Case("/bytes.bin", "-H", "Range: bytes=5-9"), Case("/bytes.bin", "-H", "Range: bytes=-7"),
      Case("/bytes.bin", "-H", "Range: bytes=9999999-"), Case("/slow/text.txt"), Case("/proxied/chunks"),
      Case("/proxied/lines"), Case("/empty"), Case("/moved"), Case("/nowhere"), Case("/odd"), Case("/lines"),
      Case("/languages"), Case("/method", "-d", "a=1"), Case("/method", "-X", "DELETE"),
    ]
  }

  private static let directives = """
    location /gzip/ { alias files/; gzip on; gzip_types *; gzip_min_length 1; }
    location /trailers/ { alias files/; add_trailer X-Sum abc; add_trailer X-Last 1; gzip on; gzip_types *; }
    location /slow/ { alias files/; limit_rate 400k; }
    location /proxied/ { proxy_pass SERVER; proxy_http_version 1.1; proxy_buffering off; }
    location /empty { return 204; }
    location /moved { return 301 /text.txt; }
    location /nowhere { return 302 ""; }
    location /odd { return 599 odd; }
    location /lines { add_header X-B 1; add_header x-a "caf\u{E9}"; add_header X-B 2; return 200 hello; }
    location /languages { return 200 "$http_accept_language $http_accept_encoding $http_te"; }
    location /method { return 200 "$request_method $content_length $content_type"; }
    """

  private static let files = [
    "bytes.bin": (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7 ^ $0 >> 3) },
    "text.txt": Array((0..<20_000).map { "\($0)\n" }.joined().utf8),
    "gzip.txt": Array(String(repeating: "hello ", count: 5_000).utf8),
  ]

  /// An origin behind nginx, for responses that nginx cannot send by itself.
  private static func origin() throws -> TestServer {
    try TestServer { request in
      switch request.path {
      case "/proxied/chunks": TestResponse(String(repeating: "x", count: 100_000)).chunked(777)
      case "/proxied/cut": TestResponse(String(repeating: "x", count: 100_000)).cut(after: 50_000)
      default: TestResponse(fields: ["Set-Cookie": "a=1", "set-cookie": "b=2", "X-Empty": ""], "hello")
      }
    }
  }

  @Test func answersAreThoseOfCurl() async throws {
    let origin = try Self.origin()
    let server = try NginxServer(
      files: Self.files, Self.directives.replacing("SERVER", with: origin.url))
    let scratch = try Scratch()
    for base in [server.url, server.secureURL, server.http2URL] {
      // Over TLS, HTTP/1.1 is the same as without.
      for (number, example) in Case.all.prefix(base == server.secureURL ? 3 : .max).enumerated() {
        // The stored response of one case is not served for another.
        let url = "\(base)\(example.path)?\(number)"
        let curl = try await curl(scratch, server, example.arguments + [url])
        #expect(curl.status == 0, "curl \(example) \(url): \(curl.errors) \(server.errors)")
        for time in 1...(base == server.url && example.isAskedAgain ? 2 : 1) {
          let run = try await cachectl(scratch, server, example.arguments + ["--max-redirects", "0", url])
          expectSuccess(run)
          let isSame = Self.lasting(run.output) == Self.lasting(curl.output)
          #expect(isSame, "\(time): \(example) \(url): \(run.text.prefix(500))\nnot\n\(curl.text.prefix(500))")
        }
      }
      let cut = "\(base)/proxied/cut"
      let (theirs, ours) = (try await curl(scratch, server, [cut]), try await cachectl(scratch, server, [cut]))
      #expect(theirs.status != 0 && ours.status == 69 && ours.errors.contains("broke off"), "\(ours.errors)")
      #expect(ours.output == theirs.output, "the part that arrived is printed")
    }
  }

  private func curl(_ scratch: Scratch, _ server: NginxServer, _ arguments: [String]) async throws -> Run {
    try await scratch.run(
      "/usr/bin/env", ["curl", "-sS", "--noproxy", "*", "--cacert", server.certificateFile] + arguments)
  }

  private func cachectl(_ scratch: Scratch, _ server: NginxServer, _ arguments: [String]) async throws -> Run {
    try await scratch.cachectl(
      ["fetch", "url"] + arguments, environment: ["SSL_CERT_FILE": server.certificateFile])
  }

  /// `output` without the fields that speak of a time, a connection or the cache, as one character for each byte.
  private static func lasting(_ output: Data) -> String {
    let text = String(decoding: output.map { UInt16($0) }, as: UTF16.self)
    guard let end = text.range(of: "\r\n\r\n") else { return text }
    let ignored: Set = ["age", "cache-status", "date", "connection", "transfer-encoding"]
    let lines = text[..<end.lowerBound].components(separatedBy: "\r\n").filter { line in
      !ignored.contains(line.prefix { $0 != ":" }.lowercased())
    }
    return lines.joined(separator: "\r\n") + text[end.lowerBound...]
  }
}
