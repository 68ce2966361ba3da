import CacheCore
import StorageSPI
import Testing

@testable import HiredisStorage

/// Four writers and four readers on a server with half of the memory that they need.
@Suite("A server with little memory under load", .serialized)
struct RedisMemoryTests {
  private static let changes = Load.isThorough ? 8_000 : 800

  private func server(_ policy: String) throws -> RedisServer {
    try RedisServer(["--maxmemory", "8mb", "--maxmemory-policy", policy])
  }

  /// How many entries the server has dropped for want of memory.
  private func evictions(_ server: RedisServer) throws -> Int {
    let lines = try server.ask("INFO", "stats").text?.split(whereSeparator: \.isNewline) ?? []
    return lines.first { $0.hasPrefix("evicted_keys:") }.flatMap { Int($0.dropFirst(13)) } ?? 0
  }

  /// Checks the store, and compacts it if something is wrong, or removes the store if the server has dropped the index or the
  /// tally. Returns how many problems there were before and after.
  ///
  /// The server gets more memory first. Otherwise it would continue to evict.
  private func verify(_ server: RedisServer, _ store: EntryStore) async throws -> (before: Int, after: Int) {
    try server.ask("CONFIG", "SET", "maxmemory", "0")
    let administration = StoreAdministration(store)
    let before = try await administration.verify()
    if before.issues.isEmpty { return (0, 0) }
    do throws(CacheError) { _ = try await administration.compact() } catch {
      guard error.code == .damaged else { throw error }
      let configuration = try EngineConfiguration(
        for: RedisPlugin().declaration, values: patient(server.url), clock: SystemClock())
      _ = try await RedisPlugin().removeStore(configuration, movingAside: nil)
    }
    return (before.issueCount, try await administration.verify().issueCount)
  }

  @Test(
    "What the server drops is absent, and nothing else is wrong",
    arguments: ["volatile-ttl", "allkeys-lru", "allkeys-random"])
  func dropping(_ policy: String) async throws {
    let server = try server(policy)
    let load = MemoryLoad(server, mayVanish: true)
    let counts = try await load.run(changes: Self.changes) { _ in }
    let store = try await load.open()
    let problems = try await verify(server, store)
    Load.report("\(policy): \(counts); \(try evictions(server)) dropped by the server, problems \(problems)")
    #expect(counts.objections == [] && counts.failedReads == [:])
    #expect(counts.failedWrites == [:])
    #expect(counts.found > 0 && counts.absent > 0 && problems.after == 0)
    #expect(try evictions(server) > 100)
    try await store.close()
  }

  @Test("A server that drops nothing has no space, loses nothing, and fails reads in no other way than by an error")
  func noeviction() async throws {
    let server = try server("noeviction")
    let load = MemoryLoad(server, mayVanish: false)
    let counts = try await load.run(changes: Self.changes) { try await $0.denyReads() }
    let store = try await load.open()
    let problems = try await verify(server, store)
    Load.report("noeviction: \(counts), problems \(problems)")
    #expect(counts.objections == [] && Set(counts.failedReads.keys) == [.permissionDenied])
    #expect((counts.failedWrites[.noSpace] ?? 0) > 0)
    #expect(Set(counts.failedWrites.keys).isSubset(of: [.noSpace, .permissionDenied]))
    #expect(problems.before == 0)
    try await store.close()
  }

  @Test("A server is emptied again and again, and what is read was written since")
  func emptied() async throws {
    let server = try server("volatile-ttl")
    let load = MemoryLoad(server, mayVanish: true)
    let counts = try await load.run(changes: Self.changes) { _ in try server.ask("FLUSHALL") }
    let store = try await load.open()
    let problems = try await verify(server, store)
    Load.report("FLUSHALL: \(counts), problems \(problems)")
    #expect(counts.objections == [] && counts.failedReads == [:] && counts.failedWrites == [:])
    #expect(problems.after == 0)
    try await store.close()
  }
}
