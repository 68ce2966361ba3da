import Foundation
import EngineAPI
import Synchronization
import Testing

@testable import RedisStorage

@Suite("Calls share a connection")
struct RedisConnectionTests {
  private let server: RedisServer

  init() throws { server = try RedisServer() }

  private func open(_ values: [String: OptionValue] = [:]) async throws -> RedisConnection {
    try await RedisConnection.open(server.address, try options(server.url, values))
  }

  /// The code of the error with which `call` ends, and whether the server may have executed it; `nil` if it succeeds.
  private func ending(_ call: () async throws -> Void) async -> (code: CacheError.Code, wasSent: Bool)? {
    do {
      try await call()
      return nil
    } catch RedisDisconnection.notSent(let error) {
      return (error.code, false)
    } catch {
      return ((error as? RedisDisconnection)?.error.code ?? .failed, true)
    }
  }

  private func blockedCall(_ connection: RedisConnection) async throws -> Task<[RedisValue], any Error> {
    let call = Task { try await connection.send([RedisCommand("BLPOP", "list", "0")]) }
    try await until("a call is blocked") {
      try server.ask("INFO", "clients").text?.contains("blocked_clients:1\r\n") == true
    }
    return call
  }

  @Test("It knows what the server says of itself")
  func role() async throws {
    let connection = try await open()
    #expect(connection.role.mode == .standalone && connection.role.isMaster)
    #expect(try server.ask("CLIENT", "LIST").text?.contains("name=cachectl ") == true)
    connection.close()
  }

  @Test("Each caller gets its own replies, however many there are", arguments: [1, 2, 64])
  func order(_ callers: Int) async throws {
    let connection = try await open()
    let wrong = try await withThrowingTaskGroup(of: [String].self) { group in
      for caller in 0..<callers {
        group.addTask {
          var wrong: [String] = []
          for number in 0..<2_000 / callers {
            let questions = (0...number % 3).map { "\(caller) \(number) \($0)" }
            let replies = try await connection.send(questions.map { RedisCommand("ECHO", $0) }).map(\.text)
            if replies != questions { wrong.append("\(questions): \(replies)") }
          }
          return wrong
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    #expect(wrong.isEmpty, "\(wrong.prefix(3))")
    connection.close()
  }

  @Test("More than the socket takes is sent as it takes it")
  func full() async throws {
    let connection = try await open()
    server.pause()
    let calls = (0..<2_000).map { number in
      Task {
        let question = "\(number) " + String(repeating: "x", count: 12_000)
        return try await connection.send([RedisCommand("ECHO", question)])[0].text == question
      }
    }
    server.resume()
    for call in calls { #expect(try await call.value) }
    let large = String(repeating: "0123456789", count: 1_000_000)
    #expect(try await connection.send([RedisCommand("ECHO", large)])[0].text == large)
    connection.close()
  }

  @Test("An error is a reply like any other")
  func errors() async throws {
    let connection = try await open()
    let replies = try await connection.send([
      RedisCommand("SET", "a", "1"), RedisCommand("LPUSH", "a", "1"), RedisCommand("GET", "a"),
    ])
    #expect(replies.map(\.error?.word) == [nil, "WRONGTYPE", nil] && replies[2].text == "1")
    connection.close()
  }

  @Test("A cancelled call waits no longer than a moment, and nobody gets its reply")
  func cancellation() async throws {
    // A twenty-fifth of this is too short for a reply that never comes.
    let connection = try await open(["timeout": .integer(10_000)])
    let call = try await blockedCall(connection)
    call.cancel()
    let end = await ending { _ = try await call.value }
    #expect(end?.code == .cancelled && end?.wasSent == true)
    let next = Task { try await connection.send([RedisCommand("ECHO", "next")]) }
    try server.ask("RPUSH", "list", "for the cancelled one")
    #expect(try await next.value[0].text == "next")
    connection.close()
  }

  @Test("A cancelled login leaves no connection, even one that takes messages")
  func cancelledLogin() async throws {
    // A twenty-fifth of this is too short for a reply that never comes.
    let options = try options(server.url, ["timeout": .integer(10_000)])
    server.pause()
    let login = Task { _ = try await RedisConnection.open(server.address, options) { _ in } }
    login.cancel()
    let error = await #expect(throws: CacheError.self) { try await login.value }
    #expect(error?.code == .cancelled)
    server.resume()
    try await until("only the connection that asks is left") {
      try server.ask("CLIENT", "LIST").text?.split(whereSeparator: \.isNewline).count == 1
    }
  }

  @Test("A cancelled caller still has time for what it has to put in order")
  func cancelledCaller() async throws {
    let connection = try await open()
    let call = Task {
      while !Task.isCancelled { await Task.yield() }
      return try await connection.send([RedisCommand("SET", "a", "1")])
    }
    call.cancel()
    #expect(try await call.value[0].text == "OK")
    connection.close()
  }

  @Test("When the connection breaks, commands that were sent might have run, and the others have not")
  func breaking() async throws {
    let connection = try await open()
    let call = try await blockedCall(connection)
    try server.ask("CLIENT", "KILL", "TYPE", "normal")
    let end = await ending { _ = try await call.value }
    #expect(end?.code == .unreachable && end?.wasSent == true)
    let late = await ending { _ = try await connection.send([RedisCommand("PING")]) }
    #expect(late?.code == .unreachable && late?.wasSent == false && !connection.isOpen)
  }

  @Test("The end of an idle connection is noticed before anything is sent")
  func idle() async throws {
    for calls in [0, 1, 50, 100] {
      let connection = try await open()
      for _ in 0..<calls { _ = try await connection.send([RedisCommand("PING")]) }
      try server.ask("CLIENT", "KILL", "TYPE", "normal")
      let end = await ending { _ = try await connection.send([RedisCommand("PING")]) }
      #expect(end?.code == .unreachable && end?.wasSent == false)
    }
  }

  @Test("Closing ends the calls and the connection")
  func closing() async throws {
    let connection = try await open()
    let call = try await blockedCall(connection)
    connection.close()
    #expect(await ending { _ = try await call.value }?.wasSent == true)
    let late = await ending { _ = try await connection.send([RedisCommand("PING")]) }
    #expect(late?.code == .closed && late?.wasSent == false)
    try await until("the connection is gone") {
      try server.ask("CLIENT", "LIST").text?.contains("name=cachectl") == false
    }
  }

  @Test("A silent server is told from one that is away")
  func silence() async throws {
    let connection = try await patiently { try await open(["timeout": .integer(100)]) }
    server.pause()
    for wasSent in [true, false] {
      do {
        _ = try await connection.send([RedisCommand("PING")])
        Issue.record("a stopped server answers")
      } catch {
        #expect(error.error.code == .unreachable && error.error.isOfSilence, "\(error)")
        if case .unanswered = error { #expect(wasSent) } else { #expect(!wasSent) }
      }
    }
    // The system still takes connections for it.
    let error = await #expect(throws: CacheError.self) { try await open(["timeout": .integer(100)]) }
    #expect(error?.isOfSilence == true, "\(error?.description ?? "")")
    server.resume()
    try await patiently { _ = try await open() }
    server.stop()
    let refusal = await #expect(throws: CacheError.self) { try await open() }
    #expect(refusal?.code == .unreachable && refusal?.isOfSilence == false)
  }

  @Test("Bytes that the socket does not take at once are sent soon, even if the connection was just idle")
  func largeAfterRest() async throws {
    let value = [UInt8](repeating: 7, count: 16 << 20)
    // A busy machine may be silent for so long, but not each time.
    for _ in 0..<5 {
      // Shorter than a thread waits when there are no calls.
      let connection = try await patiently { try await open(["timeout": .integer(250)]) }
      defer { connection.close() }
      // A thread waits for a reply that takes long, and continues waiting after it.
      _ = try? await connection.send([RedisCommand("BLPOP", "list", "0.05")])
      var change = RedisCommand("SET", "a")
      change.append(value)
      if let reply = try? await connection.send([change])[0], reply.text == "OK" { return }
    }
    Issue.record("a large change is taken for one that the server does not answer")
  }

  @Test("A server that takes no more clients says so")
  func crowded() async throws {
    let witness = try server.connection()
    _ = try witness.exchange([RedisCommand("CONFIG", "SET", "maxclients", "1")])
    let error = await #expect(throws: CacheError.self) { try await open() }
    #expect(
      error?.code == .unreachable && error?.message.contains("max number of clients") == true,
      "\(error?.description ?? "")")
    withExtendedLifetime(witness) {}
  }

  @Test("A cancelled opening ends at once", .timeLimit(.minutes(9)))
  func cancelledOpening() async throws {
    server.pause()
    let opening = Task { try await open(["timeout": .integer(20_000)]) }
    opening.cancel()
    #expect(await code { _ = try await opening.value } == .cancelled)
    server.resume()
  }

  @Test("A server on a socket is used like any other, with the database of the URL")
  func socket() async throws {
    let path = "/tmp/cachectl-\(UUID().uuidString.prefix(8)).sock"
    defer { try? FileManager.default.removeItem(atPath: path) }
    let server = try RedisServer(["--unixsocket", path])
    let options = try options("unix://\(path)?db=3")
    let connection = try await RedisConnection.open(options.location.addresses[0], options)
    _ = try await connection.send([RedisCommand("SET", "a", "1")])
    #expect(try server.cli("-n", "3", "EXISTS", "a") == "1")
    server.stop()
    do {
      _ = try await connection.send([RedisCommand("GET", "a")])
      Issue.record("a server that has ended answers")
    } catch {
      #expect(error.error.code == .unreachable && error.error.message.contains(path))
    }
  }

  @Test("A database that the server does not have is a mistake in the configuration")
  func database() async throws {
    let error = await #expect(throws: CacheError.self) {
      try await RedisConnection.open(server.address, try options(server.url + "/99"))
    }
    #expect(error?.code == .invalidOption && error?.message.contains("no database 99") == true)
    let node = try RedisServer(["--cluster-enabled", "yes"])
    let other = await #expect(throws: CacheError.self) {
      try await RedisConnection.open(node.address, try options(node.url + "/1"))
    }
    #expect(other?.code == .invalidOption && other?.message.contains("only the database 0") == true)
    let connection = try await RedisConnection.open(node.address, try options(node.url))
    #expect(connection.role.mode == .cluster)
    connection.close()
  }

  @Test("Messages of a subscription are told in order, between the replies")
  func messages() async throws {
    let heard = Heard()
    let connection = try await RedisConnection.open(server.address, try options(server.url)) { message in
      heard.texts.withLock { $0.append(message.elements?.last?.text ?? "") }
    }
    let reply = try await connection.send([RedisCommand("SUBSCRIBE", "news")])
    #expect(reply[0].elements?.first?.text == "subscribe")
    for number in 0..<100 {
      try server.ask("PUBLISH", "news", "\(number)")
      if number % 10 == 0 { #expect(try await connection.send([RedisCommand("PING")]).count == 1) }
    }
    try await until("all messages are heard") { heard.texts.withLock { $0 == (0..<100).map(String.init) } }
    try server.ask("CLIENT", "KILL", "TYPE", "pubsub")
    try await until("the end is noticed without a call") { !connection.isOpen }
  }
}

private final class Heard: Sendable {
  let texts = Mutex<[String]>([])
}
