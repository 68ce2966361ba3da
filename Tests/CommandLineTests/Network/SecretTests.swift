import Foundation
import TestOrigin
import Testing

/// Secrets go to the server and nowhere else: not into keys, stores, output, messages or logs.
@Suite struct SecretTests {
  private static let key = "k3y-of/a+server"
  private static let token = "eyJhbGciOiJIUzI1NiJ9.eyJhdWQiOiJzZWNyZXQifQ.c2lnbmF0dXJl"
  private static let password = "hunter2/with+signs"

  /// The texts that must not be found: each secret unchanged, percent-encoded, and in base64.
  private static let traces: [Data] = [key, token, password].flatMap { secret in
    let encoded = secret.replacing("/", with: "%2F").replacing("+", with: "%2B")
    return [secret, encoded, Data(secret.utf8).base64EncodedString()].map { Data($0.utf8) }
  }

  /// Responses, good and bad, that repeat `secret` in the places in which a server might.
  private static func responses(_ secret: String, closed: ClosedPort) -> [TestResponse?] {
    [
      nil, .json(#"{"status_code": 7, "status_message": "Invalid key \#(secret)"}"#, status: 401),
      .json(#"{"message": "bad key: \#(secret)"}"#, status: 400), .html(500), .html(404),
      .tooManyRequests(retryAfter: "0", #"{"status_message": "\#(secret)"}"#),
      .redirect(to: "\(closed.url)/?api_key=\(secret)"), .redirect(to: "http://user:\(secret)@127.0.0.1:1/"),
      .redirect(to: "/?api_key=\(secret)"), .redirect(to: "ftp://\(secret)/"), .json("{\"\(secret)\": ["), .html(200),
      .hangUp, .raw("\(secret)\r\n"), TestResponse("\(secret)").cut(after: 2), nil,
    ]
  }

  @Test(arguments: zip(Contract.engines, [key, token, key, token]))
  func noSecretLeavesATrace(engine: String, credential: String) async throws {
    let (scratch, closed) = (try Scratch(), try ClosedPort())
    let origin = try MovieDatabaseOrigin(key: Self.key, token: Self.token, fields: ["Cache-Control": "max-age=0"])
    let cities = try OriginSettings.cityServer(freshFor: 0)
    let headers = #", "headers": {"X-Secret": {"env": "PASSWORD"}}"#
    try scratch.configure(
      OriginSettings.cities(cities.url, more: headers), OriginSettings.movies(origin.url, more: headers))
    let environment = ["KEY": credential, "PASSWORD": Self.password]
    let echoes = Self.responses(Self.password, closed: closed)
    for (response, echo) in zip(Self.responses(credential, closed: closed), echoes) {
      // The images are requested without the key. Only the search could repeat it.
      for (command, override) in [
        (["movies", "--query", "x"], response), (["cities"], echo), (["poster", "/a.png"], echo),
      ] {
        origin.server.override(override)
        cities.override(override)
        let arguments = ["--backend", engine, "--verbose", "--output", "json", "fetch"] + command
        let run = try await scratch.cachectl(arguments, environment: environment)
        Self.expectNoTrace(in: run.output + Data(run.errors.utf8), "\(command): \(run.errors)")
      }
    }
    for command in [
      ["ls"], ["stats"], ["config", "show", "--origin"], ["queries"], ["explain", "movies", "--query", "x"],
    ] {
      let run = try await scratch.cachectl(["--backend", engine, "--verbose"] + command, environment: environment)
      Self.expectNoTrace(in: run.output + Data(run.errors.utf8), "\(command)")
    }
    for name in scratch.names(below: "home") where (try? scratch.read("home/\(name)")) != nil {
      Self.expectNoTrace(in: try scratch.read("home/\(name)"), name)
    }
    Self.expectSent(credential, origin.server, cities)
  }

  /// Without the secrets in the requests, that there is none elsewhere would mean nothing.
  private static func expectSent(_ credential: String, _ movies: TestServer, _ cities: TestServer) {
    let searches = movies.requests.filter { $0.path == MovieDatabaseOrigin.path }
    #expect(!searches.isEmpty)
    #expect(
      searches.allSatisfy {
        $0.query["api_key"] == credential || $0.fields["Authorization"] == "Bearer \(credential)"
      })
    #expect(cities.requests.contains { $0.fields["X-Secret"] == password })
  }

  private static func expectNoTrace(in data: Data, _ place: String) {
    for trace in traces {
      #expect(data.range(of: trace) == nil, "\(String(decoding: trace, as: UTF8.self)) in \(place)")
    }
  }
}
