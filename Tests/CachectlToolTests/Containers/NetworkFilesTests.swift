import Foundation
import Testing

@testable import CachectlTool
@testable import CacheConfiguration

/// The files that say who the client of a server is.
struct NetworkFilesTests {
  private static let certificate = "-----BEGIN CERTIFICATE-----\nAAAA\nBBBB\n-----END CERTIFICATE-----\n"
  private static let key = "-----BEGIN PRIVATE KEY-----\nCCCC\n-----END PRIVATE KEY-----\n"
  private static let another = "-----BEGIN CERTIFICATE-----\nAAAB\n-----END CERTIFICATE-----\n"

  /// The certificate is what counts, not the file or what else is in it.
  @Test(arguments: [
    (certificate + key, true), (key + certificate, true), ("A comment\n" + certificate + another + key, true),
    (certificate.replacingOccurrences(of: "\n", with: "\r\n") + key, true),
    ("-----BEGIN CERTIFICATE-----\nAAAABBBB\n-----END CERTIFICATE-----\n" + key, true), (another + key, false),
    (another + certificate + key, false),
  ])
  func aCertificateIsTheSameInAnyFile(text: String, isSame: Bool) throws {
    let (first, second) = (try files(certificate: Self.certificate, key: Self.key), try files(certificate: text))
    #expect(first.problem == nil && second.problem == nil && first.clientIdentity != nil)
    #expect((first.clientIdentity == second.clientIdentity) == isSame)
  }

  @Test func withoutACertificateThereIsNoIdentity() {
    let none = NetworkFiles(Configuration.Network())
    #expect(none.clientIdentity == nil && none.problem == nil)
  }

  private func files(certificate: String, key: String? = nil) throws -> NetworkFiles {
    let home = try TestHome()
    func write(_ text: String, _ name: String) throws -> String {
      let path = "\(home.folder)/\(name).pem"
      try Data(text.utf8).write(to: URL(fileURLWithPath: path))
      return path
    }
    let network = Configuration.Network(
      clientCertificate: try write(certificate, "certificate"), clientKey: try key.map { try write($0, "key") })
    return withExtendedLifetime(home) { NetworkFiles(network) }
  }
}
