import Foundation
import StorageSPI
import Testing

@testable import RedisStorage

@Suite("A server asks who is there, and what he may do")
struct RedisLoginTests {
  private func open(_ server: RedisServer, _ values: [String: OptionValue] = [:]) async throws -> RedisConnection {
    try await RedisConnection.open(server.address, try options(server.url, values))
  }

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
      let connection = try await open(server, values.mapValues { .text($0) })
      #expect(try await connection.send([RedisCommand("SET", "cachectl:a", "1")])[0].text == "OK")
      connection.close()
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
    let connection = try await open(server, ["user": .text("guest")])
    let clients = try #require(try server.ask("CLIENT", "LIST").text).split(whereSeparator: \.isNewline)
    let own = clients.filter { $0.contains("name=cachectl ") }
    #expect(!own.isEmpty && own.allSatisfy { $0.contains("user=guest ") })
    #expect(await code { _ = try await open(server, ["user": .text("member")]) } == .permissionDenied)
    connection.close()
  }

  @Test("User and password can be in files, which are read for each new connection", arguments: [true, false])
  func files(_ hasUser: Bool) async throws {
    let server = try RedisServer(
      hasUser
        ? ["--user", "guest", "on", "'>first-secret'", "'~cachectl:*'", "+@all"] : ["--requirepass", "first-secret"])
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("secrets-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (user, password) = (folder.appendingPathComponent("user"), folder.appendingPathComponent("password"))
    try "guest\n".write(to: user, atomically: true, encoding: .utf8)
    try "first-secret\n".write(to: password, atomically: true, encoding: .utf8)
    var values = ["passwordFile": OptionValue.text(password.path)]
    if hasUser { values["userFile"] = .text(user.path) }
    let options = try options(server.url, values)
    let connection = try await RedisConnection.open(server.address, options)
    let admin = hasUser ? [] : ["--pass", "first-secret", "--no-auth-warning"]
    let change =
      hasUser
      ? ["ACL", "SETUSER", "guest", "resetpass", ">second-secret"] : ["CONFIG", "SET", "requirepass", "second-secret"]
    try server.cli(admin + change)
    try "second-secret\n".write(to: password, atomically: true, encoding: .utf8)
    let next = try await RedisConnection.open(server.address, options)
    next.close()
    try FileManager.default.removeItem(at: password)
    #expect(await code { _ = try await open(server, values) } == .invalidOption)
    values["password"] = .text("x")
    #expect(await code { _ = try await open(server, values) } == .invalidOption)
    connection.close()
  }

  @Test(
    "Options that would have no effect are mistakes",
    arguments: [["certificateKey": .text("/a")], ["minimumReplicas": .integer(1)]] as [[String: OptionValue]])
  func needless(_ values: [String: OptionValue]) {
    #expect(throws: CacheError.self) { try options("rediss://a", values) }
  }

  @Test("A client name that the server would refuse is a mistake in the configuration", arguments: ["", "a b", "é"])
  func clientName(_ name: String) async throws {
    #expect(throws: CacheError.self) { try options("redis://a", ["clientName": .text(name)]) }
  }


  @Test("Under durability full a user who may not ask for the replicas is refused: nothing could be confirmed")
  func noLeaveToConfirm() async throws {
    let server = try RedisServer(["--user", "guest", "on", "'>guest-secret'", "'~*'", "+@all", "-role"])
    let login = ["user": OptionValue.text("guest"), "password": .text("guest-secret")]
    try await open(server, login).close()
    let full = login.merging(["durability": .text("full")]) { $1 }
    #expect(await code { _ = try await open(server, full) } == .permissionDenied)
  }
}
