import Foundation
import Testing

@testable import RedisStorage

/// Every entry with all that is known of it, by the program.
@Suite("The program moves stores between Redis and SQLite, and back")
struct RedisTransferCommandTests {
  private static let pages = 12

  /// The lines of an export, in any order: a server has none.
  private func export(_ machine: Machine, _ backend: String, to file: String = "export") async throws -> [String] {
    try await machine.cachectl("--backend", backend, "export", machine.path(file))
    let lines = try String(contentsOfFile: machine.path(file), encoding: .utf8).split(separator: "\n")
    return lines.map(String.init).sorted()
  }

  /// A machine with some responses on the server.
  private func machine(_ server: RedisServer) async throws -> Machine {
    let machine = try Machine(server)
    for page in 0..<Self.pages { try await machine.cachectl("fetch", "cities", "--page", "\(page)") }
    return machine
  }

  @Test("By export and import")
  func exported() async throws {
    let server = try RedisServer()
    let machine = try await machine(server)
    let lines = try await export(machine, "redis")
    #expect(lines.count >= Self.pages)
    try await machine.cachectl("--backend", "sqlite", "import", machine.path("export"))
    #expect(try await export(machine, "sqlite", to: "copy") == lines)
    try await machine.cachectl("rm", "--all", "--yes")
    #expect(try server.ask("DBSIZE").integer == 0)
    try await machine.cachectl("import", machine.path("copy"))
    #expect(try await export(machine, "redis") == lines)
    #expect(try await machine.cachectl("fetch", "cities", "--offline", "--output", "json").contains("\"cache\""))
  }

  @Test("By migrations")
  func migrated() async throws {
    let server = try RedisServer()
    let machine = try await machine(server)
    let lines = try await export(machine, "redis")
    for (from, to) in [("redis", "sqlite"), ("sqlite", "redis")] {
      if to == "redis" { try await machine.cachectl("rm", "--all", "--yes") }
      for copied in [lines.count, 0] {
        let output = try await machine.cachectl("migrate", "--from", from, "--to", to, "--output", "json")
        let report = try #require(try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any])
        #expect(report["copied"] as? Int == copied, "\(output)")
        #expect(report["verified"] as? Int == lines.count, "\(output)")
      }
      #expect(try await export(machine, to) == lines)
    }
  }
}
