import Foundation
import StorageSPI
import Testing

@testable import HiredisStorage

@Suite("An engine on one server learns of others' changes")
struct RedisFollowerTests {
  private let plugin = RedisPlugin()
  private let key: CacheKey
  /// Other keys, none of which shares a counter with `key`.
  private let others: [CacheKey]

  init() throws {
    let key = try CacheKey("cities/a")
    self.key = key
    others = try (0..<300).map { try CacheKey("cities/\($0)") }
      .filter { RedisMarks.stripe(of: $0) != RedisMarks.stripe(of: key) }
  }

  /// The mark of `key` as soon as there is one.
  private func mark(_ engine: any StorageEngine) async throws -> ChangeMark {
    var mark: ChangeMark?
    try await until("there is a mark") {
      mark = engine.changeMark(of: key)
      return mark != nil
    }
    return try #require(mark)
  }

  /// Waits until all messages that were published so far have arrived: what was asked for later is answered after them.
  private func settle(_ engine: any StorageEngine) async throws {
    let start = ContinuousClock.now
    try await until("the store was followed until now") {
      let elapsed = start.duration(to: .now)
      return engine.changeMark(of: key).map { $0.age < elapsed } ?? false
    }
  }

  private func remove(_ keys: [CacheKey], _ engine: any StorageEngine) async throws {
    var batch = WriteBatch()
    for key in keys { batch.remove(key) }
    try await engine.apply(batch)
  }

  /// The number of connections that follow a store on `server`.
  private func followers(_ server: RedisServer) throws -> Int {
    try #require(try server.ask("CLIENT", "LIST", "TYPE", "pubsub").text).split(whereSeparator: \.isNewline).count
  }

  /// What changes the entry under `key`.
  enum Change: CaseIterable {
    case put, replacement, update, removal, largeBatch, clearing, clearingDamage
  }

  @Test("A change by another engine changes the mark of its key", arguments: Change.allCases)
  func changes(_ change: Change) async throws {
    let server = try RedisServer()
    let (engine, other) = (try await plugin.open(server.url), try await plugin.open(server.url))
    if change != .put { try await other.put(key.text, "1") }
    if change == .clearingDamage { try server.ask("DEL", "cachectl:index") }
    let before = try await mark(engine)
    switch change {
    case .put, .replacement: try await other.put(key.text, "2")
    case .removal: try await remove([key], other)
    case .update: try await update(other)
    case .largeBatch: try await remove(others + [key], other)
    case .clearing, .clearingDamage:
      let configuration = try EngineConfiguration(
        for: plugin.declaration, values: patient(server.url), clock: SystemClock())
      try await plugin.removeStore(configuration)
    }
    try await until("the mark is another") { try await mark(engine).number != before.number }
    try await settle(engine)
    let after = try await mark(engine)
    try await settle(engine)
    #expect(try await mark(engine).number == after.number)
    for engine in [engine, other] { try await engine.close() }
    withExtendedLifetime(server) {}
  }

  /// Renews the metadata of the entry.
  private func update(_ engine: any StorageEngine) async throws {
    let checksum = try #require(try await engine.read(key) { _, metadata throws(CacheError) in metadata.checksum })
    var batch = WriteBatch()
    batch.update(key, metadata: .sample(checksum: 2), from: checksum)
    try await engine.apply(batch)
  }

  @Test("Other entries, its own changes, expiry and other stores leave a mark as it is")
  func unrelated() async throws {
    let server = try RedisServer()
    let (engine, other) = (try await plugin.open(server.url), try await plugin.open(server.url))
    let stranger = try await plugin.open(server.url, ["prefix": .text("elsewhere")])
    let end = SystemClock().now.advanced(by: .seconds(1))
    try await other.put(key.text, "1", .sample(retainUntil: end))
    let before = try await mark(engine)
    try await other.put(others[0].text, "1")
    try await stranger.put(key.text, "1")
    try await until("the entry has expired") { try server.ask("EXISTS", "cachectl:\(key)").integer == 0 }
    try await other.put(others[1].text, "1")
    _ = try await other.count()
    try await engine.put(key.text, "2")
    try await remove([key], engine)
    try await settle(engine)
    #expect(try await mark(engine).number == before.number)
    for engine in [engine, other, stranger] { try await engine.close() }
    withExtendedLifetime(server) {}
  }

  @Test("Without a connection there is no mark, and then another one")
  func restart() async throws {
    let server = try RedisServer()
    let engine = try await plugin.open(server.url)
    let before = try await mark(engine)
    server.stop()
    try await until("the loss is noticed") { engine.changeMark(of: key) == nil }
    try server.start()
    #expect(try await mark(engine).number != before.number)
    // A connection that is only replaced may have missed changes too.
    let between = try await mark(engine)
    try server.ask("CLIENT", "KILL", "TYPE", "pubsub")
    try await until("all numbers are others") {
      engine.changeMark(of: key).map { $0.number != between.number } ?? false
    }
    try await engine.close()
    withExtendedLifetime(server) {}
  }

  @Test("A mark is as old as the last sign of life of the server")
  func age() async throws {
    let server = try RedisServer()
    let engine = try await plugin.open(server.url)
    let before = try await mark(engine)
    server.pause()
    try await until("the mark grows old") { try await mark(engine).age > .seconds(3) }
    server.resume()
    try await settle(engine)
    #expect(try await mark(engine).number == before.number)
    try await engine.close()
    withExtendedLifetime(server) {}
  }

  @Test("A server that is silent for too long is left, and found again when it answers")
  func silence() async throws {
    let server = try RedisServer()
    let engine = try await patiently { try await plugin.open(server.url, ["timeout": .integer(500)]) }
    let before = try await mark(engine)
    server.pause()
    try await until("the silence is noticed") { engine.changeMark(of: key) == nil }
    server.resume()
    #expect(try await mark(engine).number != before.number)
    try await engine.close()
    withExtendedLifetime(server) {}
  }

  @Test("A user who may not publish can write, and one who may not subscribe has no mark")
  func permissions() async throws {
    let server = try RedisServer([
      "--user", "mute", "on", "nopass", "'~*'", "'&*'", "+@all", "-publish",
      "--user", "closed", "on", "nopass", "'~*'", "resetchannels", "+@all",
      "--user", "deaf", "on", "nopass", "'~*'", "'&*'", "+@all", "-subscribe",
    ])
    let engine = try await plugin.open(server.url)
    let before = try await mark(engine)
    for user in ["mute", "closed", "deaf"] {
      let other = try await plugin.open(server.url, ["user": .text(user)])
      #expect(other.changeMark(of: key) == nil)
      try await other.put(key.text, user)
      #expect(try await engine.text(key.text) == user)
      if user != "mute" {
        let denied = try #require(try server.ask("INFO", "errorstats").text)
        try await until("the server has refused \(user)") {
          try server.ask("INFO", "errorstats").text != denied
        }
        #expect(other.changeMark(of: key) == nil)
      }
      try await settle(engine)
      #expect(try await (mark(engine).number == before.number) == (user != "deaf"))
      try await other.close()
    }
    try await engine.close()
    withExtendedLifetime(server) {}
  }

  @Test("Only an engine that is asked for a mark follows, and it ends with the engine", arguments: [true, false])
  func lifetime(_ isClosed: Bool) async throws {
    let server = try RedisServer()
    var engine: (any StorageEngine)? = try await plugin.open(server.url)
    try await engine?.put(key.text, "1")
    #expect(try followers(server) == 0)
    _ = try await mark(#require(engine))
    #expect(try followers(server) == 1)
    if isClosed {
      try await engine?.close()
      #expect(engine?.changeMark(of: key) == nil)
    } else {
      engine = nil
    }
    try await until("the connection is gone") { try followers(server) == 0 }
    #expect(engine?.changeMark(of: key) == nil)
    withExtendedLifetime(server) {}
  }

  @Test("A follower that waits for a server ends when it is closed", arguments: [true, false])
  func closedWhileAway(_ isSilent: Bool) async throws {
    let server = try RedisServer()
    var follower: RedisFollower? = RedisFollower(RedisStore(try options(.server, server.url)))
    weak let remains = follower
    try await until("there is a mark") { remains?.mark(of: key) != nil }
    if isSilent { server.pause() } else { server.stop() }
    try await until("nothing comes any more") { remains?.mark(of: key).map { $0.age > .seconds(2) } ?? true }
    follower?.close()
    follower = nil
    // The thread is the last to hold it.
    try await until("the thread has ended") { remains == nil }
    server.resume()
    withExtendedLifetime(server) {}
  }

  @Test("A follower goes where the Sentinels point")
  func failover() async throws {
    let settings = ["--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "1"]
    let master = try RedisServer(settings)
    let replica = try RedisServer(settings + ["--replicaof", "127.0.0.1", "\(master.port)"])
    try eventually("the replica follows the master") { () -> Void? in
      try replica.ask("ROLE").elements?.dropFirst(3).first?.text == "connected" ? () : nil
    }
    let sentinel = try RedisServer(watching: master, replicas: 1)
    let url = "redis-sentinel://127.0.0.1:\(sentinel.port)#main"
    let (engine, other) = (try await plugin.open(url), try await plugin.open(url))
    let before = try await mark(engine)
    master.stop()
    // On a busy machine the replica may be followed before the test looks again.
    try await until("the loss is noticed") {
      engine.changeMark(of: key).map { $0.number != before.number } ?? true
    }
    let between = try await mark(engine)
    #expect(between.number != before.number)
    try await other.put(key.text, "1")
    try await until("the mark is another") { try await mark(engine).number != between.number }
    for engine in [engine, other] { try await engine.close() }
    withExtendedLifetime((master, replica, sentinel)) {}
  }

  @Test("On a cluster an engine follows nothing, and publishes nothing")
  func cluster() async throws {
    let store = RedisStore(try options(.cluster, "redis://a"))
    #expect(store.publisher.isEmpty)
    #expect(!RedisStore(try options(.server, "redis://a")).publisher.isEmpty)
    for plugin in [RedisPlugin(.cluster), try RedisLibraryTests.plugin("rediscluster")] as [any StoragePlugin] {
      let engine = try await plugin.open(try RedisCluster.shared.get().url)
      #expect(engine.changeMark(of: key) == nil)
      try await engine.close()
    }
  }
}
