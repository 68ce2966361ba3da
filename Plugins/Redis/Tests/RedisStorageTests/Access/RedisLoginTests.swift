import Foundation
import StorageSPI
import Testing

@testable import HiredisStorage

@Suite("A server asks who is there, and what he may do")
struct RedisLoginTests {
  private let plugin = RedisPlugin()

  @Test(
    "User and password are asked for, and never repeated",
    arguments: [
      ([:], CacheError.Code.permissionDenied), (["password": "wrong-secret"], .permissionDenied),
      (["password": "right-secret"], nil), (["user": "guest", "password": "guest-secret"], nil),
      (["user": "guest", "password": "right-secret"], .permissionDenied),
      (["user": "nobody", "password": "wrong-secret"], .permissionDenied),
    ] as [([String: String], CacheError.Code?)])
  func passwords(_ values: [String: String], _ expected: CacheError.Code?) async throws {
    let server = try RedisServer([
      "--requirepass", "right-secret", "--user", "guest", "on", "'>guest-secret'", "'~cachectl:*'", "+@all",
    ])
    do {
      let engine = try await plugin.open(server.url, values.mapValues { .text($0) })
      try await engine.put("cities/a", "1")
      #expect(try await engine.text("cities/a") == "1")
      try await engine.close()
      #expect(expected == nil)
    } catch let error as CacheError {
      #expect(error.code == expected, "\(error)")
      #expect(!error.description.contains("secret"), "\(error)")
    }
  }

  @Test("A user without a password is logged in as such, not taken for the default one")
  func userAlone() async throws {
    let server = try RedisServer([
      "--user", "guest", "on", "nopass", "'~cachectl:*'", "+@all",
      "--user", "member", "on", "'>member-secret'", "'~cachectl:*'", "+@all",
    ])
    let engine = try await plugin.open(server.url, ["user": .text("guest")])
    try await engine.put("cities/a", "1")
    let clients = try #require(try server.ask("CLIENT", "LIST").text).split(whereSeparator: \.isNewline)
    let own = clients.filter { $0.contains("name=cachectl ") }
    #expect(!own.isEmpty && own.allSatisfy { $0.contains("user=guest ") })
    #expect(await code { _ = try await plugin.open(server.url, ["user": .text("member")]) } == .permissionDenied)
    try await engine.close()
  }

  @Test("Under durability full a user who may not ask for the replicas is refused: nothing could be confirmed")
  func noLeaveToConfirm() async throws {
    let server = try RedisServer(["--user", "guest", "on", "'>guest-secret'", "'~*'", "+@all", "-role"])
    let login = ["user": OptionValue.text("guest"), "password": .text("guest-secret")]
    let engine = try await plugin.open(server.url, login)
    try await engine.put("cities/a", "1")
    try await engine.close()
    let full = login.merging(["durability": .text("full")]) { $1 }
    #expect(await code { _ = try await plugin.open(server.url, full) } == .permissionDenied)
  }

  @Test("A user who loses the leave to ask for the replicas is not told that they have confirmed a change")
  func leaveTaken() async throws {
    let server = try RedisServer(["--user", "guest", "on", "'>guest-secret'", "'~*'", "+@all"])
    let login = ["user": OptionValue.text("guest"), "password": .text("guest-secret")]
    let hasty = login.merging(["durability": .text("full"), "timeout": .integer(1_000)]) { $1 }
    let engine = try await patiently { try await plugin.open(server.url, hasty) }
    try await patiently { try await engine.put("cities/a", "1") }
    try server.ask("ACL", "SETUSER", "guest", "-role")
    #expect(await code { try await engine.put("cities/a", "2") } == .unreachable)
    try await engine.close()
  }
}
