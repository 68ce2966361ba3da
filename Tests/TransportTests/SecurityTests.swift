import HTTPCaching
import TestOrigin
import Testing
import CurlTransport

/// Servers that prove their identity, and clients that do.
@Suite(.timeLimit(.minutes(10)))
struct SecurityTests {
  @Test func onlyWhatIsTrustedAnswers() async throws {
    let server = try SelfSignedServer()
    let unknown = await failure(server.url)
    #expect(unknown?.code == .tls)
    #expect(unknown?.detail.contains("certificate") == true, "\(String(describing: unknown))")
    #expect(unknown?.server == "127.0.0.1:\(server.port)")
    var options = TransportOptions()
    options.authorityFile = server.certificateFile
    #expect(try await status(server.url, options) == 200)
    options.authorityFile = server.certificateFile + ".missing"
    #expect(await failure(server.url, options)?.code == .unusableFile)
    var insecure = TransportOptions()
    insecure.isInsecure = true
    #expect(try await status(server.url, insecure) == 200)
    #expect(try await status(server.url, environment: ["SSL_CERT_FILE": server.certificateFile]) == 200)
    #expect(await failure(server.url, environment: ["SSL_CERT_DIR": "/nowhere"])?.code == .tls)
  }

  @Test func clientsThatServersKnow() async throws {
    let server = try SelfSignedServer(wantsClientCertificate: true)
    var options = TransportOptions()
    options.authorityFile = server.certificateFile
    #expect(await failure(server.url, options)?.code == .tls)
    options.clientCertificate = .init(file: server.certificateFile, keyFile: server.keyFile)
    #expect(try await status(server.url, options, identity: "a") == 200)
    // A request without an identity does not show the certificate, even if there is an open connection that has shown
    // it.
    #expect(await failure(server.url, options)?.code == .tls)
    options.clientCertificate = .init(file: server.certificateFile, keyFile: "/nowhere")
    #expect(await failure(server.url, options, identity: "a")?.code == .unusableFile)
  }

  @Test func serverWithoutTLS() async throws {
    let server = try TestServer(script: [.raw("HTTP/1.1 400 Bad Request\r\n\r\n")])
    #expect(await failure("https://127.0.0.1:\(server.port)")?.code == .tls)
  }

  private func status(
    _ url: String, _ options: TransportOptions = TransportOptions(), environment: [String: String] = [:],
    identity: String? = nil
  ) async throws(TransportError) -> Int {
    try await Transport(options, environment: variables(environment)).response(
      to: HTTPRequest(url: url, clientIdentity: identity), limit: 1 << 20
    )
    .head.status
  }

  private func failure(
    _ url: String, _ options: TransportOptions = TransportOptions(), environment: [String: String] = [:],
    identity: String? = nil
  ) async -> TransportError? {
    await #expect(throws: TransportError.self) {
      try await status(url, options, environment: environment, identity: identity)
    }
  }
}
