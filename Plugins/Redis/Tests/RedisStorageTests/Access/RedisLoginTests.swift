import Foundation
import StorageConformance
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

  @Test("What a script may not do is not allowed, and no other failure")
  func scripts() async throws {
    let server = try RedisServer()
    let engine = try await plugin.open(server.url)
    try await engine.put("cities/a", "1")
    for command in ["zadd", "hset", "set", "hmget"] {
      try server.ask("ACL", "SETUSER", "default", "-\(command)")
      #expect(await code { try await engine.put("cities/b", "1") } == .permissionDenied, "\(command)")
      try server.ask("ACL", "SETUSER", "default", "+@all")
    }
    try await engine.put("cities/b", "1")
    try await engine.close()
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
    let engine = try await plugin.open(server.url, values)
    try await engine.put("cities/a", "1")
    let admin = hasUser ? [] : ["--pass", "first-secret", "--no-auth-warning"]
    let change =
      hasUser
      ? ["ACL", "SETUSER", "guest", "resetpass", ">second-secret"] : ["CONFIG", "SET", "requirepass", "second-secret"]
    try server.cli(admin + change)
    try "second-secret\n".write(to: password, atomically: true, encoding: .utf8)
    let now = hasUser ? [] : ["--pass", "second-secret", "--no-auth-warning"]
    try server.cli(now + ["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"])
    #expect(try await engine.text("cities/a") == "1")
    try FileManager.default.removeItem(at: password)
    #expect(await code { _ = try await plugin.open(server.url, values) } == .invalidOption)
    values["password"] = .text("x")
    #expect(await code { _ = try await plugin.open(server.url, values) } == .invalidOption)
    try await engine.close()
  }

  @Test(
    "Options that would have no effect are mistakes",
    arguments: [["certificateKey": .text("/a")], ["minimumReplicas": .integer(1)]] as [[String: OptionValue]])
  func needless(_ values: [String: OptionValue]) {
    #expect(throws: CacheError.self) { try options(.server, "rediss://a", values) }
  }

  @Test("A client name that the server would refuse is a mistake in the configuration", arguments: ["", "a b", "é"])
  func clientName(_ name: String) async throws {
    #expect(throws: CacheError.self) { try options(.server, "redis://a", ["clientName": .text(name)]) }
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

  /// The words of the rule in the README, for keys like `keys` and channels like `channels`.
  private func rule(keys: String = "~cachectl:*", channels: String = "&cachectl:changes") throws -> [String] {
    let file = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../README.md").standardized
    let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
    let line = try #require(lines.first { $0.hasPrefix("    ACL SETUSER ") })
    let words = line.split(separator: " ").map(String.init)
    #expect(Set(words).isSuperset(of: ["~cachectl:*", "&cachectl:changes"]))
    return words.map { ["~cachectl:*": keys, "&cachectl:changes": channels][$0] ?? $0 }
  }

  private static let login: [String: OptionValue] = [
    "user": .text("cachectl"), "password": .text("PASSWORD"), "durability": .text("full"),
  ]

  @Test("The rules of the README are enough for all that a store does, and for nothing else")
  func rules() async throws {
    let server = try RedisServer()
    try server.cli(try rule())
    let engine = try await plugin.open(server.url, Self.login)
    let key = try CacheKey("cities/a")
    try await until("changes are followed") { engine.changeMark(of: key) != nil }
    let other = try await plugin.open(server.url, Self.login)
    let before = engine.changeMark(of: key)?.number
    for key in ["cities/a", "cities/b"] { try await other.put(key, "1") }
    try await until("the change is noticed") { engine.changeMark(of: key)?.number != before }
    try await other.close()
    #expect(try await engine.keys() == ["cities/a", "cities/b"])
    #expect(try await engine.check().isEmpty)
    try await engine.compact()
    let values = patient(server.url, Self.login)
    let configuration = try EngineConfiguration(for: plugin.declaration, values: values, clock: SystemClock())
    #expect(try await plugin.inspect(configuration).exists)
    try await plugin.removeStore(configuration)
    try await engine.close()
    for command in [["GET", "other"], ["SET", "other", "1"], ["FLUSHALL"], ["CONFIG", "GET", "*"], ["KEYS", "*"]] {
      let output = try server.cli(["--user", "cachectl", "--pass", "PASSWORD", "--no-auth-warning"] + command)
      #expect(output.contains("NOPERM"), "\(command)")
    }
  }

  @Test("The rules of the README for a cluster are enough there")
  func clusterRules() async throws {
    let cluster = try RedisCluster.shared.get()
    let words = try rule().dropLast(3) + ["+cluster|slots", "+asking"]
    for node in cluster.nodes { try node.cli(Array(words)) }
    let plugin = RedisPlugin(.cluster)
    let login: [String: OptionValue] = ["user": .text("cachectl"), "password": .text("PASSWORD")]
    let engine = try await plugin.open(cluster.url, login)
    try await engine.put("cities/a", "1")
    #expect(try await engine.keys() == ["cities/a"])
    #expect(try await engine.count().entries == 1)
    try await engine.compact()
    #expect(try await engine.check().map(\.message) == [])
    let values = patient(cluster.url, login)
    try await plugin.removeStore(EngineConfiguration(for: plugin.declaration, values: values, clock: SystemClock()))
    try await engine.close()
  }

  @Test("A user with the rules of the README keeps the storage contract")
  func contract() async throws {
    let server = try RedisServer()
    // Each check has a prefix of its own.
    try server.cli(try rule(keys: "~*", channels: "&*"))
    let names = [
      "batch-of-a-thousand", "random-calls", "shared-separate-stores", "shared-change-mark", "bounds-of-entries",
    ]
    for check in plugin.checks where names.contains(check.name) {
      try await expectKept(check, plugin, url: server.url, Self.login)
    }
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
