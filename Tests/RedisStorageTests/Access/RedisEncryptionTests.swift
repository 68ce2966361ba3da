import Foundation
import EngineAPI
import Testing

@testable import RedisStorage

@Suite("Connections are encrypted")
struct RedisEncryptionTests {
  /// A server that also accepts encrypted connections, and its URL for them.
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

  private func connect(_ url: String, _ values: [String: OptionValue]) async throws {
    let options = try options(url, values)
    try await RedisConnection.open(options.location.addresses[0], options).close()
  }

  /// The error of an opening, as text with its code; empty if there is none.
  private func refusal(_ url: String, _ values: [String: String]) async throws -> String {
    do {
      try await connect(url, values.mapValues { .text($0) })
      return ""
    } catch let error as CacheError {
      return error.description
    }
  }

  @Test("Replies of any length come over an encrypted connection, to any number of callers")
  func replies() async throws {
    let certificates = try Certificates()
    let (server, url) = try server(certificates)
    let options = try options(url, ["ca": .text(certificates.ca)])
    let connection = try await RedisConnection.open(options.location.addresses[0], options)
    let large = String(repeating: "0123456789", count: 500_000)
    #expect(try await connection.send([RedisCommand("ECHO", large)])[0].text == large)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for caller in 0..<50 {
        group.addTask {
          for number in 0..<40 {
            let question = "\(caller) \(number)" + String(repeating: "x", count: number * 500)
            let reply = try await connection.send([RedisCommand("ECHO", question)])[0]
            #expect(reply.text == question)
          }
        }
      }
      try await group.waitForAll()
    }
    for _ in 0..<20 { #expect(try await connection.send([RedisCommand("PING")])[0].text == "PONG") }
    try server.ask("CLIENT", "KILL", "TYPE", "normal")
    await #expect(throws: RedisDisconnection.self) { try await connection.send([RedisCommand("PING")]) }
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

  @Test("If one side encrypts and the other does not, no connection is made")
  func onesided() async throws {
    let certificates = try Certificates()
    let (server, url) = try server(certificates)
    let encrypted = "rediss://127.0.0.1:\(server.port)"
    let plain = url.replacingOccurrences(of: "rediss", with: "redis")
    let found = try await refusal(plain, [:])
    #expect(found.hasPrefix("unreachable") && found.contains("rediss://"), "\(found)")
    // A server that does not encrypt waits for the end of a command.
    let hasty = ["ca": OptionValue.text(certificates.ca), "connectTimeout": .integer(500)]
    let error = await #expect(throws: CacheError.self) { try await connect(encrypted, hasty) }
    #expect(error?.code == .unreachable && error?.isOfSilence == true)
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

  @Test("A store keeps its connections to the nodes of a cluster encrypted, which it finds by their ports for that")
  func cluster() async throws {
    let certificates = try Certificates()
    let (server, url) = try server(
      certificates, ["--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf", "--tls-cluster", "yes"])
    try server.ask("CLUSTER", "ADDSLOTSRANGE", "0", "16383")
    let engine = try await RedisPlugin().open(url, ["ca": .text(certificates.ca)])
    for number in 0..<20 { try await engine.put("cities/\(number)", "1") }
    let key = try CacheKey("cities/1")
    try await until("changes are followed") { engine.changeMark(of: key) != nil }
    #expect(try await engine.keys().count == 20)
    // The connections of the test itself are not encrypted, and have no name.
    let clients = try #require(try server.ask("CLIENT", "LIST").text).split(whereSeparator: \.isNewline)
    let port = url.split(separator: ":").last ?? ""
    let own = clients.filter { $0.contains("name=cachectl ") }
    #expect(own.count >= 2 && own.allSatisfy { $0.contains("laddr=127.0.0.1:\(port) ") }, "\(own)")
    try await engine.close()
  }
}
