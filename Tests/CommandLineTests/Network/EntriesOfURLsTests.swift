import Foundation
import TestOrigin
import Testing

/// The commands about entries, which take a URL where they take a key; and `fetch url --out`.
@Suite struct EntriesOfURLsTests {
  private static let fields: TestFields = ["Cache-Control": "max-age=600", "Vary": "X-Kind"]

  /// A server whose answers differ by a header field of the request.
  private func server() throws -> TestServer {
    try TestServer { TestResponse(fields: Self.fields, $0.fields["X-Kind"] ?? "none") }
  }

  @Test(arguments: Contract.persistentEngines)
  func aURLStandsForItsEntries(engine: String) async throws {
    let (scratch, server) = (try Scratch(), try server())
    func run(_ arguments: String...) async throws -> Run {
      try await scratch.cachectl(["--backend", engine] + arguments)
    }
    let url = "\(server.url)/a?b=c"
    // Another spelling of the same URL, and one that only begins like it.
    let spelling = url.replacing("http://", with: "HTTP://me:secret@") + "#part"
    expectSuccess(try await run("fetch", "url", url))
    expectSuccess(try await run("fetch", "url", url + "d"))
    #expect(try await run("show", spelling, "--raw").text == "none")
    // Credentials are header fields, which the stored answer was not selected by.
    let explained = try await run("explain", url.replacing("http", with: "HTTP") + "#part", "--output", "json")
    #expect(try explained.document()["action"] == "serve", "\(explained.text)")

    expectSuccess(try await run("fetch", "url", url, "--header", "X-Kind: other"))
    let ambiguous = try await run("show", spelling)
    let keys = try await run("ls", "--match", "*b%3Dc/*", "--output", "json").document()["entries"]?.elements
      .compactMap { $0["key"]?.text }
    #expect(keys?.count == 2)
    expectFailure(ambiguous, status: 64, mentioning: ["2 entries"] + (keys ?? []))
    #expect(!ambiguous.errors.contains("secret"))

    let soft = try await run("rm", "--soft", spelling, "--output", "json")
    #expect(try soft.document()["removed"] == 2 && soft.document()["soft"] == true)
    #expect(try await run("ls", "--state", "stale", "--output", "json").document()["entries"]?.elements.count == 2)
    #expect(try await run("rm", spelling, "--output", "json").document()["removed"] == 2)
    expectFailure(try await run("show", spelling), status: 66, mentioning: [url])
    let again = try await run("rm", spelling)
    #expect(again.status == 66 && again.errors.contains(url) && !again.errors.contains("secret"))
    #expect(try await run("ls", "--output", "json").document()["entries"]?.elements.count == 1)
  }

  @Test(arguments: ["ftp://example.com/", "https://"])
  func whatIsNoURLOfAWebServerIsAMistake(url: String) async throws {
    let scratch = try Scratch()
    for command in [["show"], ["rm"]] {
      expectFailure(try await scratch.cachectl(command + [url]), status: 64, mentioning: ["no URL"])
    }
  }

  @Test func aMistypedResourceIsNotTakenForAURL() async throws {
    expectFailure(try await Scratch().cachectl("explain", "citis"), status: 64, mentioning: ["citis", "cities"])
  }

  /// What was made stale asks the origin, and stands in where it fails.
  @Test(arguments: Contract.persistentEngines)
  func whatIsMadeStaleAsksTheOriginAndStandsInForIt(engine: String) async throws {
    let scratch = try Scratch()
    var server: TestServer? = try OriginSettings.cityServer()
    try scratch.configure(OriginSettings.cities(server?.url ?? ""))
    let fetch = ["--backend", engine, "fetch", "cities", "--output", "json"]
    expectSuccess(try await scratch.cachectl(fetch))
    let rm = ["--backend", engine, "rm", "--soft", "--match", "cities/*", "--output", "json"]
    #expect(try await scratch.cachectl(rm + ["--dry-run"]).document()["removed"] == 1)
    #expect(try await scratch.cachectl(fetch).document()["revalidated"] == false)
    for removed in [1, 0] as [JSON] { #expect(try await scratch.cachectl(rm).document()["removed"] == removed) }
    #expect(try await scratch.cachectl(fetch).document()["revalidated"] == true)
    #expect(server?.count == 2)
    expectSuccess(try await scratch.cachectl(rm))
    expectSuccess(try await scratch.cachectl("--backend", engine, "verify"))
    server = nil
    let alone = try await scratch.cachectl(fetch)
    #expect(try alone.document()["stale"] == true && alone.errors.contains("warning"), "\(alone.errors)")
  }

  @Test func theContentGoesToAFile() async throws {
    let (scratch, server) = (try Scratch(), try server())
    let file = scratch.path("file")
    let run = try await scratch.cachectl("fetch", "url", server.url, "--out", file)
    #expect(run.status == 0 && run.output.isEmpty && run.errors.hasPrefix("HTTP 200"), "\(run.errors)")
    #expect(try scratch.read("file") == Data("none".utf8))
    let facts = try await scratch.cachectl("fetch", "url", server.url, "--out", file, "--output", "json", "--include")
    #expect(try facts.document()["bytes"] == 4)
    #expect(String(decoding: try scratch.read("file"), as: UTF8.self).hasPrefix("HTTP/1.1 200 OK\r\n"))
  }

  /// A file that is there stays as it was until there is another whole one.
  @Test func withoutAnAnswerTheFileStaysAsItWas() async throws {
    let scratch = try Scratch()
    try scratch.write("before", to: "file")
    let command = ["fetch", "url", "http://127.0.0.1:1/", "--out", scratch.path("file")]
    expectFailure(try await scratch.cachectl(command), status: 69)
    #expect(try scratch.read("file") == Data("before".utf8))
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: scratch.folder).filter { $0.hasPrefix("file") } == ["file"])
  }
}
