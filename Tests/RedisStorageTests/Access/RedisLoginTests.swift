import Foundation
import EngineAPI
import Testing

@testable import RedisStorage

@Suite("A server asks who is there, and what he may do")
struct RedisLoginTests {
  private func open(_ server: RedisServer, _ values: [String: OptionValue] = [:]) async throws -> RedisConnection {
    try await RedisConnection.open(server.address, try options(server.url, values))
  }

  @Test(
    "User and password are required, and never repeated",
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
    arguments: [("rediss://a", "certificateKey"), ("redis://a", "ca"), ("redis://a", "certificate")])
  func needless(_ url: String, _ option: String) {
    #expect(throws: CacheError.self) { try options(url, [option: .text("/a")]) }
  }

  @Test("A client name that the server would refuse is a mistake in the configuration", arguments: ["", "a b", "é"])
  func clientName(_ name: String) async throws {
    #expect(throws: CacheError.self) { try options("redis://a", ["clientName": .text(name)]) }
  }

  @Test("A server without HELLO is too old")
  func old() async throws {
    let server = try RedisServer(["--rename-command", "HELLO", "''"])
    let error = await #expect(throws: CacheError.self) { try await open(server).close() }
    #expect(error?.hint.contains("Redis 6.2") == true, "\(error?.description ?? "")")
  }

  @Test("A command that the user must not run in a script is a lack of permission, and no other failure")
  func scripts() async throws {
    let server = try RedisServer()
    let engine = try await RedisPlugin().open(server.url)
    var batch = WriteBatch()
    for key in ["cities/a", "cities/b"] { batch.put(try CacheKey(key), payload: [1], metadata: .sample()) }
    try server.ask("ACL", "SETUSER", "default", "-set")
    #expect(await code { try await engine.apply(batch) } == .permissionDenied)
    try server.ask("ACL", "SETUSER", "default", "+@all")
    try await engine.apply(batch)
    try await engine.close()
  }

  /// The words of the rule in the README, and the further words for a cluster.
  private func rules() throws -> (server: [String], cluster: [String]) {
    let file = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../Plugins/Redis/README.md")
      .standardized
    let text = try String(contentsOf: file, encoding: .utf8)
    let lines = text.split(separator: "\n")
    let line = try #require(lines.first { $0.hasPrefix("    ACL SETUSER ") })
    let words = line.split(separator: " ").map(String.init)
    #expect(Set(words).isSuperset(of: ["~cachectl:*", ">PASSWORD"]))
    let further = try #require(text.firstRange(of: "On a cluster add\n`")).upperBound
    return (words, text[further...].prefix { $0 != "`" }.split(separator: " ").map(String.init))
  }

  private static let login: [String: OptionValue] = [
    "user": .text("cachectl"), "password": .text("PASSWORD"),
  ]

  /// Does all that a store does.
  private func use(_ url: String) async throws {
    let plugin = RedisPlugin()
    let engine = try await plugin.open(url, Self.login)
    let key = try CacheKey("cities/a")
    try await until("changes are followed") { engine.changeMark(of: key) != nil }
    let other = try await plugin.open(url, Self.login)
    let before = engine.changeMark(of: key)?.number
    for key in ["cities/a", "cities/b"] { try await other.put(key, "1") }
    try await until("the change is noticed") {
      let number = engine.changeMark(of: key)?.number
      return number != nil && number != before
    }
    try await other.close()
    var batch = WriteBatch()
    batch.require(key, .checksum(1))
    batch.update(key, metadata: .sample(checksum: 2), from: 1)
    try await engine.apply(batch)
    #expect(try await engine.text("cities/a") == "1")
    #expect(try await Set(engine.keys()) == ["cities/a", "cities/b"])
    #expect(try await engine.count().entries == 2)
    #expect(try await engine.check().isEmpty)
    try await engine.compact()
    let configuration = try EngineConfiguration(
      for: plugin.declaration, values: patient(url, Self.login), clock: SystemClock())
    #expect(try await plugin.inspect(configuration).exists)
    try await plugin.removeStore(configuration)
    #expect(try await engine.keys() == [])
    try await engine.close()
  }

  @Test("The rules of the README are enough for all that a store does, and for nothing else")
  func rule() async throws {
    let server = try RedisServer()
    try server.cli(try rules().server)
    try await use(server.url)
    for command in [["GET", "other"], ["SET", "other", "1"], ["FLUSHALL"], ["CONFIG", "GET", "*"], ["KEYS", "*"]] {
      let output = try server.cli(["--user", "cachectl", "--pass", "PASSWORD", "--no-auth-warning"] + command)
      #expect(output.contains("NOPERM"), "\(command)")
    }
  }

  @Test("The rules of the README for a cluster are enough there")
  func clusterRule() async throws {
    let cluster = try RedisCluster()
    let rules = try rules()
    for node in cluster.nodes { try node.cli(rules.server + rules.cluster) }
    try await use(cluster.url)
  }

  @Test("An error about an unknown command does not repeat its arguments")
  func unknownCommand() throws {
    let server = try RedisServer(["--rename-command", "AUTH", "''"])
    let error = try #require(try server.ask("AUTH", "user", "secret").error)
    #expect(error.word == "ERR" && error.description.contains("unknown command 'AUTH'"))
    #expect(!error.description.contains("secret"), "\(error)")
  }
}
