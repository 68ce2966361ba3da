import Foundation
import TestOrigin
import Testing

/// Responses that the cache must not show any more, or only with a warning.
@Suite struct OutdatedEntriesTests {
  private static let fresh: TestFields = ["Cache-Control": "max-age=600", "ETag": "\"1\""]
  /// Stale for 90 seconds when it comes.
  private static let stale: TestFields = ["Cache-Control": "max-age=10", "Age": "100"]

  @Test(
    arguments: Contract.inTurn(
      [(200, ["Cache-Control": "no-store"]), (200, ["Vary": "*"]), (404, [:]), (410, ["Cache-Control": "no-store"])]
        as [(Int, TestFields)]))
  func aReplacedResponseIsNotShownAnyMore(engine: String, answer: (Int, TestFields)) async throws {
    let (scratch, server) = (try Scratch(), try TestServer { _ in TestResponse(fields: Self.fresh, "old") })
    let command = ["--backend", engine, "fetch", "url", server.url, "--retry", "0"]
    #expect(try await scratch.cachectl(command).text == "old")
    server.override(TestResponse(status: answer.0, fields: answer.1, "new"))
    #expect(try await scratch.cachectl(command + ["--refresh"]).text == "new")
    #expect(try await scratch.cachectl(command).text == "new")
    #expect(try await scratch.cachectl(command + ["--offline"]).text != "old")
    server.override(TestResponse(status: 503, "down"))
    #expect(try await scratch.cachectl(command).text != "old")
  }

  @Test(arguments: Contract.inTurn([404, 410, 200]))
  func aValueReplacedByTheOriginIsNotShownAnyMore(engine: String, status: Int) async throws {
    let (scratch, origin) = (try Scratch(), try MovieDatabaseOrigin(key: "k3y", token: "none", movies: 45))
    try scratch.configure(OriginSettings.movies(origin.url))
    let command = ["--backend", engine, "fetch", "poster", "/poster0.png"]
    let environment = ["KEY": "k3y"]
    let old = try await scratch.cachectl(command, environment: environment)
    expectSuccess(old)
    let fields: TestFields = ["Cache-Control": "no-store", "Content-Type": "image/png"]
    let picture = TestBody.bytes([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0x21])
    origin.server.override(status == 200 ? TestResponse(fields: fields, body: picture) : .html(status))
    let newer = try await scratch.cachectl(command + ["--refresh"], environment: environment)
    #expect(newer.status == (status == 200 ? 0 : 66), "\(newer.errors)")
    for options in [[], ["--offline"]] {
      let later = try await scratch.cachectl(command + options, environment: environment)
      #expect(later.output != old.output && later.status == (status == 200 && options.isEmpty ? 0 : 66))
    }
  }

  /// With `--quiet` too, which hides the warning.
  @Test(arguments: [[], ["--quiet"]])
  func onlyAStaleCopyIsAnErrorIfItMustBeFresh(global: [String]) async throws {
    let (scratch, server) = (try Scratch(), try TestServer { _ in TestResponse(fields: Self.stale, "old") })
    let command = global + ["fetch", "url", server.url, "--retry", "0"]
    #expect(try await scratch.cachectl(command + ["--require-fresh"]).text == "old", "it comes from the origin")
    server.override(TestResponse(status: 500, "failed"))
    let shown = try await scratch.cachectl(command)
    #expect(shown.text == "old" && shown.errors.contains("stale for") == global.isEmpty, "\(shown.errors)")
    let failed = try await scratch.cachectl(command + ["--require-fresh"])
    expectFailure(failed, status: 69, mentioning: ["status 500", "only a stale copy"])
    let offline = try await scratch.cachectl(command + ["--require-fresh", "--offline"])
    expectFailure(offline, status: 69, mentioning: ["only a stale copy of \(server.url)/"])
    let accepted = try await scratch.cachectl(command + ["--require-fresh", "--max-stale", "1h"])
    expectFailure(accepted, status: 69, mentioning: ["only a stale copy"])
    let later = try await scratch.cachectl(command + ["--require-fresh", "--set", "cache.staleWhileRevalidate=1h"])
    expectFailure(later, status: 69, mentioning: ["only a stale copy"])
    server.override(nil)
    #expect(try await scratch.cachectl(command + ["--require-fresh"]).text == "old")
  }

  @Test func everyFetchCanRequireAFreshResponse() async throws {
    let scratch = try Scratch()
    for resource in [["cities"], ["movies", "--query", "heat"], ["poster", "/24871.png"]] {
      let command = ["fetch"] + resource
      expectSuccess(try await scratch.cachectl(["--set", "cache.timeToLive=0s"] + command + ["--require-fresh"]))
      expectSuccess(try await scratch.cachectl(command + ["--offline"]))
      let stale = try await scratch.cachectl(command + ["--offline", "--require-fresh"])
      expectFailure(stale, status: 69, mentioning: ["only a stale copy"])
    }
  }

  @Test(arguments: [["--max-stale", "0s"], ["--max-stale", "80s"], ["-H", "Cache-Control: no-cache"]])
  func aRefusedStaleResponseIsNotShownAfterAnError(options: [String]) async throws {
    let (scratch, server) = (try Scratch(), try TestServer { _ in TestResponse(fields: Self.stale, "old") })
    let command = ["fetch", "url", server.url, "--retry", "0"]
    expectSuccess(try await scratch.cachectl(command))
    server.override(TestResponse(status: 500, "failed"))
    #expect(try await scratch.cachectl(command + options).text == "failed")
    #expect(try await scratch.cachectl(command + ["--max-stale", "1h"]).text == "old")
    server.override(.hangUp)
    expectFailure(try await scratch.cachectl(command + options), status: 69, mentioning: ["broke off"])
    #expect(try await scratch.cachectl(command).text == "old")
  }

  @Test func aHeadThatBypassesTheCacheOutdatesTheEntry() async throws {
    let scratch = try Scratch()
    let server = try TestServer { request in
      TestResponse(fields: Self.fresh.replacing(with: request.method == "HEAD" ? ["ETag": "\"2\""] : [:]), "hello")
    }
    let command = ["fetch", "url", server.url]
    expectSuccess(try await scratch.cachectl(command))
    #expect(try await scratch.cachectl(command + ["-I", "--refresh"]).text.contains("\"2\""))
    expectSuccess(try await scratch.cachectl(command))
    #expect(server.requests.map(\.method) == ["GET", "HEAD", "GET"])
  }

  @Test func aConfirmationOfNothingIsAnError() async throws {
    let (scratch, server) = (try Scratch(), try TestServer { _ in TestResponse(status: 304) })
    let failed = try await scratch.cachectl("fetch", "url", server.url)
    expectFailure(failed, status: 69, mentioning: ["304"])
    let own = try await scratch.cachectl("fetch", "url", server.url, "-H", "If-None-Match: \"1\"", "-i")
    #expect(own.status == 0 && own.text.hasPrefix("HTTP/1.1 304"))
  }

  /// The message names the stored part, and the rest is not shown as the complete response.
  @Test func theRestIsNotShownAsTheCompleteResponse() async throws {
    let scratch = try Scratch()
    let content = String(repeating: "0123456789", count: 100)
    let whole = TestResponse(fields: ["ETag": "\"1\"", "Cache-Control": "max-age=600"], content)
    let server = try TestServer { request in
      guard request.fields["Range"] != nil else { return whole }
      let rest: TestFields = ["Content-Range": "bytes 500-999/1000", "ETag": "\"1\""]
      return TestResponse(fields: rest, String(content.dropFirst(500)))
    }
    server.enqueue([whole.cut(after: 500)])
    let command = ["fetch", "url", server.url]
    let broken = try await scratch.cachectl(command)
    expectFailure(broken, status: 69, mentioning: ["broke off", "the next fetch requests only the rest"])
    #expect(try await scratch.cachectl(command).text == content)
    #expect(server.requests.map { $0.fields["Range"] } == [nil, "bytes=500-", nil])
  }

  @Test func aStoredResponseHasADate() async throws {
    let scratch = try Scratch()
    let server = try TestServer(
      script: [.raw("HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: 5\r\n\r\nhello")])
    let command = ["fetch", "url", server.url, "-i"]
    #expect(try await scratch.cachectl(command).text.contains("\r\nDate: ") == false, "as the server sent it")
    #expect(try await scratch.cachectl(command).text.contains(/\r\nDate: \w+, \d+ \w+ \d+ [\d:]+ GMT\r\n/))
  }
}
