import Foundation

/// A certificate authority, and certificates that it has signed, in a directory that is removed at the end.
final class Certificates: Sendable {
  private let folder: URL

  /// Makes the authority, and a certificate for a server called `names`, such as "DNS:localhost,IP:127.0.0.1".
  init(for names: String = "DNS:localhost,IP:127.0.0.1") throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("certificates-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try openssl(["req", "-x509", "-days", "2", "-subj", "/CN=authority", "-out", ca] + key("ca"))
    try openssl(["req", "-subj", "/CN=server", "-out", path("server.csr")] + key("server"))
    try "subjectAltName=\(names)\n".write(toFile: path("names"), atomically: false, encoding: .utf8)
    try openssl([
      "x509", "-req", "-days", "2", "-in", path("server.csr"), "-CA", ca, "-CAkey", path("ca.key"), "-CAcreateserial",
      "-extfile", path("names"), "-out", path("server.crt"),
    ])
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// The file of the authority's own certificate.
  var ca: String { path("ca.crt") }
  /// The files of the signed certificate and of its key.
  var certificate: String { path("server.crt") }
  var certificateKey: String { path("server.key") }

  /// The arguments of a server that accepts encrypted connections on `port`.
  func arguments(port: Int, asksClients: Bool = false) -> [String] {
    [
      "--tls-port", "\(port)", "--tls-cert-file", certificate, "--tls-key-file", certificateKey, "--tls-ca-cert-file",
      ca, "--tls-auth-clients", asksClients ? "yes" : "no",
    ]
  }

  private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

  private func key(_ name: String) -> [String] {
    ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", path("\(name).key")]
  }

  private func openssl(_ arguments: [String]) throws { _ = try RedisServer.run("openssl", arguments) }
}
