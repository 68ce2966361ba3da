import Foundation
import EngineAPI
import Testing

@testable import RedisStorage

@Suite("A store on a server from its opening to its end")
struct RedisEngineTests {
  private let plugin = RedisPlugin()

  @Test("A server on a socket is used like any other")
  func socket() async throws {
    let path = "/tmp/cachectl-\(UUID().uuidString.prefix(8)).sock"
    defer { try? FileManager.default.removeItem(atPath: path) }
    let server = try RedisServer(["--unixsocket", path])
    let engine = try await plugin.open("unix://\(path)?db=3")
    try await engine.put("cities/a", "1")
    #expect(try await engine.text("cities/a") == "1")
    #expect(try server.cli("-n", "3", "EXISTS", "cachectl:cities/a") == "1")
    #expect(try await plugin.inspect(configuration("unix://\(path)?db=3")).path == "unix://\(path)?db=3 (cachectl)")
    server.stop()
    let error = await #expect(throws: CacheError.self) { _ = try await engine.text("cities/a") }
    #expect(error?.code == .unreachable && error?.message.contains(path) == true)
    try await engine.close()
  }

  @Test("A call that is under way when the store is closed ends as if it were not")
  func closing() async throws {
    let server = try RedisServer()
    let engine = try await plugin.open(server.url)
    try await engine.put("cities/a", "1")
    try server.ask("CLIENT", "PAUSE", "600000", "WRITE")
    let writing = Task {
      var batch = WriteBatch()
      batch.require(try CacheKey("cities/a"), .checksum(1))
      batch.put(try CacheKey("cities/a"), payload: Array("2".utf8), metadata: .sample())
      try await engine.apply(batch)
    }
    try await until("the call waits") {
      try server.ask("INFO", "clients").text?.contains("blocked_clients:1\r\n") == true
    }
    let closing = Task { try await engine.close() }
    try await until("no other call is taken") { await engine.failure(of: WriteBatch()) == .closed }
    // The server does not know the script. So the call needs two replies.
    try server.ask("SCRIPT", "FLUSH")
    try server.ask("CLIENT", "UNPAUSE")
    try await writing.value
    try await closing.value
    #expect(try server.ask("GETRANGE", "cachectl:cities/a", "0", "0").text == "2")
  }
}
