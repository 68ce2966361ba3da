import CacheBase
import HTTPCaching
import TestOrigin
import Testing
import CurlTransport

/// Servers that prove their identity, and clients that do.
@Suite(.timeLimit(.minutes(10))) struct SecurityTests {
  @Test func onlyTrustedCopiesAreServed() async throws {
    let server = try SelfSignedServer()
    let words = "there is no secure connection to 127.0.0.1:\(server.port): "
    let unknown = await failure(server.url)
    Failure(code: .originUnreachable, words: words).expect(unknown)
    #expect(unknown?.message.replacing(words, with: "").contains("certificate") == true)
    var options = TransportOptions()
    options.authorityFile = server.certificateFile
    #expect(try await status(server.url, options) == 200)
    options.authorityFile = server.certificateFile + ".missing"
    Failure.unusableFile.expect(await failure(server.url, options))
    var insecure = TransportOptions()
    insecure.isInsecure = true
    #expect(try await status(server.url, insecure) == 200)
    #expect(try await status(server.url, environment: ["SSL_CERT_FILE": server.certificateFile]) == 200)
    Failure.tls.expect(await failure(server.url, environment: ["SSL_CERT_DIR": "/nowhere"]))
  }

  @Test func clientsThatServersKnow() async throws {
    let server = try SelfSignedServer(wantsClientCertificate: true)
    var options = TransportOptions()
    options.authorityFile = server.certificateFile
    Failure.tls.expect(await failure(server.url, options))
    options.clientCertificate = .init(file: server.certificateFile, keyFile: server.keyFile)
    #expect(try await status(server.url, options, identity: "a") == 200)
    // A request without an identity does not show the certificate, even if there is an open connection that has shown
    // it.
    Failure.tls.expect(await failure(server.url, options))
    options.clientCertificate = .init(file: server.certificateFile, keyFile: "/nowhere")
    Failure.unusableFile.expect(await failure(server.url, options, identity: "a"))
  }

  @Test func serverWithoutTLS() async throws {
    let server = try TestServer(script: [.raw("HTTP/1.1 400 Bad Request\r\n\r\n")])
    Failure.tls.expect(await failure("https://127.0.0.1:\(server.port)"))
  }

  private func status(
    _ url: String, _ options: TransportOptions = TransportOptions(), environment: [String: String] = [:],
    identity: String? = nil
  ) async throws(CacheError) -> Int {
    try await HTTPTransferService.plain(options, content: .whole(limit: 1 << 20), environment: environment)
      .transfer(HTTP.Request(url: url, clientIdentity: identity)).head.status
  }

  private func failure(
    _ url: String, _ options: TransportOptions = TransportOptions(), environment: [String: String] = [:],
    identity: String? = nil
  ) async -> CacheError? {
    await CurlTransportTests.failure { () async throws(CacheError) in
      try await status(url, options, environment: environment, identity: identity)
    }
  }
}
