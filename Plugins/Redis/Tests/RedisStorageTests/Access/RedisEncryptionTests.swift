import Foundation
import StorageConformance
import StorageSPI
import Testing

@testable import HiredisStorage

@Suite("Connections are encrypted")
struct RedisEncryptionTests {
  private let plugin = RedisPlugin()

  /// A server that also answers encrypted connections, and the URL of those.
  private func server(
    _ certificates: Certificates, asksClients: Bool = false, host: String = "127.0.0.1", _ arguments: [String] = []
  ) throws -> (server: RedisServer, url: String) {
    // Another process may take the port before the server does.
    for _ in 0..<5 {
      let port = try RedisServer.freePort()
      let own = certificates.arguments(port: port, asksClients: asksClients)
      if let server = try? RedisServer(own + arguments) { return (server, "rediss://\(host):\(port)") }
    }
    throw RedisServer.Failure(description: "no server with encrypted connections can be started")
  }

  /// The error of an opening, as text with its code; empty if there is none.
  private func refusal(_ url: String, _ values: [String: String]) async throws -> String {
    do {
      let engine = try await plugin.open(url, values.mapValues { .text($0) })
      try await engine.put("cities/a", "1")
      try await engine.close()
      return ""
    } catch let error as CacheError {
      return error.description
    }
  }

  @Test("A store on an encrypted connection keeps the storage contract")
  func contract() async throws {
    let certificates = try Certificates()
    let (server, url) = try server(certificates)
    let names = ["batch-of-a-thousand", "scan-entries", "random-calls", "shared-separate-stores", "shared-change-mark"]
    let checks = plugin.checks.filter { names.contains($0.name) }
    #expect(checks.count == names.count)
    for check in checks { try await expectKept(check, plugin, url: url, ["ca": .text(certificates.ca)]) }
    let engine = try await plugin.open(url, ["ca": .text(certificates.ca), "clientName": .text("shop")])
    let text = String(repeating: "0123456789", count: 500_000)
    try await engine.put("cities/large", text)
    #expect(try await engine.text("cities/large") == text)
    let clients = try #require(try server.ask("CLIENT", "LIST").text)
    #expect(clients.contains("name=shop "))
    try await engine.close()
  }

  @Test(
    "A server is trusted if its certificate is of a trusted authority and of its name",
    arguments: [
      ("IP:127.0.0.1", "127.0.0.1", true, ""), ("DNS:localhost", "localhost", true, ""),
      ("DNS:localhost", "127.0.0.1", true, "IP address mismatch"),
      ("IP:127.0.0.1", "localhost", true, "ostname mismatch"),
      ("IP:127.0.0.1", "127.0.0.1", false, "its certificate is not trusted"),
    ])
  func trust(_ names: String, _ host: String, _ isTrusted: Bool, _ problem: String) async throws {
    let (certificates, other) = (try Certificates(for: names), try Certificates())
    let (server, url) = try server(certificates, host: host)
    let found = try await refusal(url, ["ca": isTrusted ? certificates.ca : other.ca])
    #expect(problem.isEmpty ? found.isEmpty : found.hasPrefix("unreachable") && found.contains(problem), "\(found)")
    #expect(problem.isEmpty || found.contains("option ca") && !found.contains("start the server"), "\(found)")
    withExtendedLifetime(server) {}
  }

  @Test("Where one side encrypts and the other does not, no connection is made")
  func onesided() async throws {
    let certificates = try Certificates()
    let (server, url) = try server(certificates)
    let encrypted = "rediss://127.0.0.1:\(server.port)"
    let plain = url.replacingOccurrences(of: "rediss", with: "redis")
    let found = try await refusal(plain, [:])
    #expect(found.hasPrefix("unreachable") && found.contains("rediss://"), "\(found)")
    // A server that does not encrypt waits for the end of a command.
    let hasty = ["ca": OptionValue.text(certificates.ca), "connectTimeout": .integer(500)]
    let error = await #expect(throws: CacheError.self) { try await plugin.open(encrypted, hasty) }
    #expect(error?.code == .unreachable && error?.message.contains("TLS handshake") == true)
    #expect(error?.hint.contains("redis://") == true && error?.hint.contains("start") == false, "\(error?.hint ?? "")")
  }

  @Test("A server can ask for a certificate")
  func clientCertificate() async throws {
    let certificates = try Certificates()
    let (server, url) = try server(certificates, asksClients: true)
    var values = ["ca": certificates.ca]
    let found = try await refusal(url, values)
    #expect(found.hasPrefix("unreachable") && found.contains("option certificate"), "\(found)")
    values["certificate"] = certificates.certificate
    values["certificateKey"] = certificates.certificateKey
    #expect(try await refusal(url, values) == "")
    withExtendedLifetime(server) {}
  }

  @Test(
    "A file that cannot be used is a mistake in the configuration",
    arguments: [["ca": "/none"], ["certificate": "/none"], ["ca": "/etc/passwd"], ["ca": "etc/passwd"]])
  func files(_ values: [String: String]) async throws {
    let found = try await refusal("rediss://127.0.0.1:1", values)
    #expect(found.hasPrefix("invalidOption") && found.contains(values.keys.first ?? ""), "\(found)")
  }

  @Test("Certificates without encryption are a mistake in the configuration")
  func needless() async throws {
    #expect(try await refusal("redis://127.0.0.1:1", ["ca": "/none"]).contains("for encrypted connections"))
  }

  @Test("A key that needs a password is refused, without a question on the terminal")
  func keyWithPassword() async throws {
    let certificates = try Certificates()
    let locked = certificates.certificateKey + ".locked"
    _ = try RedisServer.run(
      "openssl", ["ec", "-in", certificates.certificateKey, "-aes256", "-passout", "pass:secret", "-out", locked])
    let values = ["certificate": certificates.certificate, "certificateKey": locked]
    #expect(try await refusal("rediss://127.0.0.1:1", values).contains("certificateKey"))
  }

  @Test("The nodes of a cluster are found by their ports for encrypted connections")
  func cluster() async throws {
    let certificates = try Certificates()
    let (server, url) = try server(
      certificates, ["--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf", "--tls-cluster", "yes"])
    try server.ask("CLUSTER", "ADDSLOTSRANGE", "0", "16383")
    let engine = try await RedisPlugin(.cluster).open(url, ["ca": .text(certificates.ca)])
    for number in 0..<20 { try await engine.put("cities/\(number)", "1") }
    #expect(try await engine.keys().count == 20)
    // The connections of the test itself are not encrypted, and have no name.
    let clients = try #require(try server.ask("CLIENT", "LIST").text).split(whereSeparator: \.isNewline)
    let port = url.split(separator: ":").last ?? ""
    let own = clients.filter { $0.contains("name=cachectl ") }
    #expect(!own.isEmpty && own.allSatisfy { $0.contains("laddr=127.0.0.1:\(port) ") })
    try await engine.close()
  }
}
