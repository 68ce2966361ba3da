import Foundation
import StorageSPI
import Testing

@testable import HiredisStorage

@Suite("A server has no room left")
struct RedisRoomTests {
  private let plugin = RedisPlugin()

  @Test("A server without room says so, and nothing is changed")
  func noRoom() async throws {
    let server = try RedisServer()
    let engine = try await plugin.open(server.url)
    try await engine.put("cities/a", "1")
    try server.ask("CONFIG", "SET", "maxmemory", "1")
    #expect(await code { try await engine.put("cities/a", "2") } == .noSpace)
    #expect(await code { try await engine.put("cities/b", "2") } == .noSpace)
    try server.ask("CONFIG", "SET", "maxmemory", "0")
    #expect(try await engine.text("cities/a") == "1")
    #expect(try await engine.keys() == ["cities/a"])
    #expect(try await engine.check().isEmpty)
    try await engine.close()
  }

  @Test("A batch that was applied is not refused when it is sent again and there is no room by then")
  func sentAgain() async throws {
    let server = try RedisServer()
    let store = RedisStore(try options(.server, server.url))
    let end = SystemClock().now.advanced(by: .seconds(3))
    var expiring = WriteBatch()
    expiring.put(try CacheKey("cities/b"), payload: [1], metadata: .sample(retainUntil: end))
    try store.apply(try RedisBatch(expiring))
    var batch = WriteBatch()
    batch.put(try CacheKey("cities/c"), payload: [1], metadata: .sample())
    let application = store.application(try RedisBatch(batch), part: 0, .apply(nil))
    _ = try store.router.perform(application.request(store.options))
    try await until("an entry has expired") { try server.ask("EXISTS", "cachectl:cities/b").integer == 0 }
    try server.ask("CONFIG", "SET", "maxmemory", "1")
    let verdict = application.verdict(try store.router.perform(application.request(store.options)))
    guard case .done? = verdict?.outcome else {
      Issue.record("a batch that was applied is judged again")
      return
    }
  }

  /// What needs no room: whether expired entries are still to be forgotten or not.
  enum Relief: CaseIterable {
    case removal, conditionalRemoval, compaction, counting
  }

  @Test("On a server without room, what only takes away goes on", arguments: Relief.allCases, [true, false])
  func relief(_ relief: Relief, _ hasExpired: Bool) async throws {
    let server = try RedisServer()
    let engine = try await plugin.open(server.url)
    let key = try CacheKey("cities/a")
    try await engine.put(key.text, "1", .sample(checksum: 7))
    try await engine.put("cities/b", "1")
    try await engine.put("cities/c", "1", .sample(retainUntil: SystemClock().now.advanced(by: .seconds(3))))
    if !hasExpired { try await engine.put("cities/c", "1") }
    try await until("the entry has expired") {
      try !hasExpired || server.ask("EXISTS", "cachectl:cities/c").integer == 0
    }
    try server.ask("CONFIG", "SET", "maxmemory", "1")
    #expect(await code { try await engine.put("cities/d", "2") } == .noSpace)
    var batch = WriteBatch()
    if relief == .conditionalRemoval { batch.require(key, .checksum(7)) }
    batch.remove(key)
    switch relief {
    case .removal, .conditionalRemoval: try await engine.apply(batch)
    case .compaction: try await engine.compact()
    case .counting: #expect(try await engine.count().entries == (hasExpired ? 2 : 3))
    }
    let isRemoved = [.removal, .conditionalRemoval].contains(relief)
    #expect(try await engine.text(key.text) == (isRemoved ? nil : "1"))
    #expect(try await engine.check().map(\.message) == [])
    #expect(await code { try await engine.put("cities/d", "2") } == .noSpace)
    try await engine.close()
  }
}
