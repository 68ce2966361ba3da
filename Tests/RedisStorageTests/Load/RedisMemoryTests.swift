import CacheCore
import StorageSPI
import Testing

@testable import RedisStorage

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

  /// What a check finds.
  private func problems(_ load: MemoryLoad) async throws -> Int {
    let store = try await load.open()
    let issues = try await StoreAdministration(store).verify().issueCount
    try await store.close()
    return issues
  }

  @Test(
    "Entries that the server evicts are absent, and nothing else is wrong",
    arguments: ["volatile-ttl", "allkeys-lru", "allkeys-lfu", "allkeys-random"])
  func dropping(_ policy: String) async throws {
    let server = try server(policy)
    let load = MemoryLoad(server, mayVanish: true)
    let counts = try await load.run(changes: Self.changes) { _ in }
    let problems = try await self.problems(load)
    Load.report("\(policy): \(counts); \(try evictions(server)) dropped by the server, problems \(problems)")
    #expect(counts.objections == [] && counts.failedReads == [:])
    #expect(counts.failedWrites == [:])
    #expect(counts.found > 0 && counts.absent > 0 && problems == 0)
    #expect(try evictions(server) > 100)
  }

  @Test("A server that drops nothing has no space, loses nothing, and fails reads in no other way than by an error")
  func noeviction() async throws {
    let server = try server("noeviction")
    let load = MemoryLoad(server, mayVanish: false)
    let counts = try await load.run(changes: Self.changes) { try await $0.denyReads() }
    let problems = try await self.problems(load)
    Load.report("noeviction: \(counts), problems \(problems)")
    #expect(counts.objections == [] && Set(counts.failedReads.keys) == [.permissionDenied])
    #expect((counts.failedWrites[.noSpace] ?? 0) > 0)
    #expect(Set(counts.failedWrites.keys).isSubset(of: [.noSpace, .permissionDenied]))
    #expect(problems == 0)
  }

  @Test("A server is emptied again and again, and what is read was written since")
  func emptied() async throws {
    let server = try server("volatile-ttl")
    let load = MemoryLoad(server, mayVanish: true)
    let counts = try await load.run(changes: Self.changes) { _ in try server.ask("FLUSHALL") }
    let problems = try await self.problems(load)
    Load.report("FLUSHALL: \(counts), problems \(problems)")
    #expect(counts.objections == [] && counts.failedReads == [:] && counts.failedWrites == [:])
    #expect(problems == 0)
  }
}
