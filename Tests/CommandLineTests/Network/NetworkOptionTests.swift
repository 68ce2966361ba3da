import Foundation
import TestOrigin
import Testing

/// Connections to a server, compression, and temporary failures.
@Suite struct NetworkOptionTests {
  private static let fresh: TestFields = ["Cache-Control": "max-age=600"]

  @Test func aResponseOverUnverifiedTLSIsNotStored() async throws {
    let (scratch, server) = (try Scratch(), try SelfSignedServer())
    for _ in 1...2 {
      let run = try await scratch.cachectl("fetch", "url", "-k", "-i", server.url)
      #expect(run.status == 0 && run.errors.contains("not stored"), "\(run.errors)")
      #expect(run.text.contains("fwd=uri-miss") && !run.text.contains("; stored"))
    }
    #expect(try await scratch.cachectl("ls", "--output", "csv").text.split(separator: "\r\n").count == 1)
    let proved = try await scratch.cachectl("fetch", "url", "--cacert", server.certificateFile, "-i", server.url)
    expectSuccess(proved)
    #expect(proved.text.contains("; stored"))
    #expect(proved.errors.isEmpty)
    // No request is needed.
    let hit = try await scratch.cachectl("fetch", "url", "-k", "-i", "--max-stale", "1h", server.url)
    #expect(
      hit.text.contains("; hit") && hit.errorLines.count == 1 && hit.errors.contains("stale for"), "\(hit.errors)")
  }

  /// It says which option names the file, and asks no server.
  @Test(arguments: [
    (["--cacert", "NONE"], ["--cacert: there is no file NONE", "certificate"]),
    (["--cacert", "FOLDER"], ["--cacert: FOLDER: Is a directory"]),
    (["--cacert", "KEY"], ["--cacert: KEY has no certificate"]), (["--cert", "NONE"], ["--cert: there is no file"]),
    (["--cert", "KEY"], ["--cert: KEY has no certificate"]),
    (["--cert", "CERTIFICATE"], ["--cert: CERTIFICATE has no private key", "--key"]),
    (["--cert", "CERTIFICATE", "--key", "NONE"], ["--key: there is no file NONE", "private key"]),
    (["--cert", "CERTIFICATE", "--key", "CERTIFICATE"], ["--key: CERTIFICATE has no private key"]),
    (["-x", "foo://ada:s3cret@a:1"], ["--proxy: there is no such kind of proxy", "socks5h://"]),
  ])
  func unusableValuesAreMistakes(options: [String], words: [String]) async throws {
    let (scratch, server) = (try Scratch(), try TestServer { _ in TestResponse("hello") })
    for name in ["CERTIFICATE", "KEY"] {
      let label = name == "KEY" ? "PRIVATE KEY" : name
      try scratch.write("-----BEGIN \(label)-----\nAAAA\n-----END \(label)-----\n", to: "work/\(name)")
    }
    try scratch.makeFolder("work/FOLDER")
    for command in [["fetch", "url"], ["explain", "url"]] {
      let run = try await scratch.cachectl(command + [server.url] + options)
      expectFailure(run, status: 64, mentioning: words)
      #expect(!run.errors.contains("s3cret"))
    }
    #expect(server.count == 0)
  }

  /// The same option in the configuration matters only when a request is made.
  @Test func aFileOfTheConfigurationThatIsMissingIsNamed() async throws {
    let (scratch, server) = (try Scratch(), try OriginSettings.cityServer(freshFor: 600))
    try scratch.configure(OriginSettings.cities(server.url))
    expectSuccess(try await scratch.cachectl("fetch", "cities"))
    let setting = ["--set", "network.authorityFile=/none", "fetch", "cities"]
    expectSuccess(try await scratch.cachectl(setting))
    expectFailure(
      try await scratch.cachectl(setting + ["--refresh"]), status: 78,
      mentioning: ["--set: network.authorityFile: there is no file /none"])
    expectFailure(
      try await scratch.cachectl("--set", "network.clientKey=/none", "fetch", "cities"), status: 64,
      mentioning: ["network.clientCertificate"])
    #expect(server.count == 1)
  }

  /// A client without the certificate does not get the response to a client with it, nor may a shared cache store it.
  @Test func theCertificateOfTheClientIsCredentials() async throws {
    let (scratch, server) = (try Scratch(), try SelfSignedServer(wantsClientCertificate: true))
    let trusting = ["fetch", "url", server.url, "-i", "--cacert", server.certificateFile]
    let identified = trusting + ["--cert", server.certificateFile, "--key", server.keyFile]
    expectFailure(try await scratch.cachectl(trusting), status: 69, mentioning: ["certificate"])
    let first = try await scratch.cachectl(identified)
    expectSuccess(first)
    #expect(first.text.contains("; stored"))
    expectSuccess(try await scratch.cachectl(identified + ["--offline", "--max-stale", "1h"]))
    expectFailure(
      try await scratch.cachectl(trusting + ["--offline", "--max-stale", "1h"]), status: 66, mentioning: ["cache"])
    let configured = try await scratch.cachectl(
      "--set", "network.authorityFile=\(server.certificateFile)", "--set",
      "network.clientCertificate=\(server.certificateFile)", "--set", "network.clientKey=\(server.keyFile)",
      "--set", "cache.shared=true", "fetch", "url", server.url, "-i")
    expectSuccess(configured)
    #expect(!configured.text.contains("; stored"))
    let missing = try await scratch.cachectl(trusting + ["--cert", scratch.path("work/none")])
    expectFailure(missing, status: 64, mentioning: ["work/none"])
    expectFailure(try await scratch.cachectl(trusting + ["--key", "a"]), status: 64, mentioning: ["--cert"])
  }

  @Test func aProxyIsNamedInThreeWays() async throws {
    let (scratch, proxy) = (try Scratch(), try TestServer { TestResponse("proxied \($0.path)") })
    let url = "http://nowhere.invalid/a"
    for arguments in [["-x", proxy.url], ["--set", "network.proxy=\(proxy.url)"]] {
      #expect(try await scratch.cachectl(["fetch", "url", url, "--refresh"] + arguments).text == "proxied \(url)")
    }
    let variables = ["CACHECTL_NETWORK_PROXY": proxy.url]
    let run = try await scratch.cachectl("fetch", "url", url, "--refresh", environment: variables)
    #expect(run.text == "proxied \(url)")
    let direct = try TestServer { _ in TestResponse("direct") }
    let without = try await scratch.cachectl(
      "fetch", "url", direct.url, "-x", "", environment: ["http_proxy": proxy.url])
    #expect(without.text == "direct" && proxy.count == 3)
    let secret = try await scratch.cachectl("fetch", "url", url, "--set", "network.proxy=http://ada:s3cret@a:1")
    expectFailure(secret, status: 64, mentioning: ["network.proxy", "https_proxy"])
    #expect(!secret.errors.contains("s3cret"))
  }

  /// The cache keeps the received bytes, and each variant separately.
  @Test func compressionIsUndoneBehindTheCache() async throws {
    let engine = "lmdb"
    let text = String(repeating: "hello ", count: 1_000)
    let scratch = try Scratch()
    let server = try TestServer { request in
      let response = TestResponse(fields: Self.fresh.replacing(with: ["Vary": "Accept-Encoding"]), text)
      return request.fields["Accept-Encoding"]?.contains("gzip") == true ? response.gzipped() : response
    }
    let command = ["--backend", engine, "fetch", "url", server.url]
    for _ in 1...2 {
      #expect(try await scratch.cachectl(command).text == text)
      let run = try await scratch.cachectl(command + ["--compressed", "-i"])
      #expect(run.text.hasSuffix("\r\n\r\n\(text)") && run.text.contains("Content-Encoding: gzip\r\n"))
    }
    #expect(server.requests.map { $0.fields["Accept-Encoding"] } == [nil, "gzip, deflate, zstd"])
    let coded = ["-H", "Accept-Encoding: gzip, deflate, zstd", "--offline"]
    #expect(try await scratch.cachectl(command + coded).output == Data(Gzip.compress(Array(text.utf8))))
    let explained = try await scratch.cachectl("--backend", engine, "explain", "url", server.url, "--compressed")
    #expect(explained.text.contains("fresh"), "\(explained.text)")
  }

  /// It is decoded while it is read, and not stored.
  @Test func aLargeCompressedResponseIsPassedOn() async throws {
    let content = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7 ^ $0 >> 9) }
    let (scratch, file) = (try Scratch(), "work/answer")
    let server = try TestServer { _ in TestResponse(fields: Self.fresh, body: .bytes(content)).gzipped() }
    let run = try await scratch.cachectl(
      "--set", "cache.maxEntryBytes=1KiB", "fetch", "url", server.url, "--compressed", "-o", scratch.path(file))
    #expect(run.status == 0 && run.errors.contains("maxEntryBytes"), "\(run.errors)")
    #expect(try scratch.read(file) == Data(content))
  }

  @Test func contentThatIsNotCompressedIsInvalid() async throws {
    let (scratch, coded) = (try Scratch(), Self.fresh.replacing(with: ["Content-Encoding": "gzip"]))
    let server = try TestServer { _ in TestResponse(fields: coded, "plain") }
    let run = try await scratch.cachectl("fetch", "url", server.url, "--compressed", "-o", scratch.path("work/answer"))
    expectFailure(run, status: 69, mentioning: ["not compressed"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path("work")).isEmpty)
  }

  /// A response that was stored in its coding is fetched again.
  @Test func damagedContentInTheCacheIsReplaced() async throws {
    let (scratch, sound) = (try Scratch(), TestResponse(fields: Self.fresh, "sound").gzipped())
    let server = try TestServer { _ in sound }
    server.override(TestResponse(fields: Self.fresh.replacing(with: ["Content-Encoding": "gzip"]), "plain"))
    expectSuccess(try await scratch.cachectl("fetch", "url", server.url))
    server.override(sound)
    let offline = try await scratch.cachectl("fetch", "url", server.url, "--compressed", "--offline")
    expectFailure(offline, status: 69, mentioning: ["not compressed"])
    for _ in 1...2 { #expect(try await scratch.cachectl("fetch", "url", server.url, "--compressed").text == "sound") }
    #expect(server.count == 2)
  }

  @Test(arguments: [
    (["--retry", "2"], [503, 500, 200], 200, 3), (["--retry", "1"], [500, 500, 200], 500, 2),
    (["--retry", "0"], [503, 200], 503, 1), ([], [503, 503, 200], 200, 3), ([], [500, 200], 500, 1),
    (["--retry", "2", "-X", "DELETE"], [503, 200], 503, 1), (["--retry", "2"], [404, 200], 404, 1),
  ])
  func aRequestIsTriedAgain(options: [String], statuses: [Int], last: Int, count: Int) async throws {
    let server = try TestServer(script: statuses.map { TestResponse(status: $0, fields: ["Retry-After": "0"], "") })
    let run = try await Scratch().cachectl(["fetch", "url", server.url, "-i"] + options)
    #expect(run.text.hasPrefix("HTTP/1.1 \(last) ") && server.count == count, "\(run.text)")
  }
}
