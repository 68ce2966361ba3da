import StorageSPI
import Synchronization
import Testing

@testable import HiredisStorage

@Suite("Calls share a connection")
struct RedisPipelineTests {
  private let server: RedisServer
  private let pool: RedisPool
  private let pipeline: RedisPipeline

  init() throws {
    server = try RedisServer()
    let options = try options(.server, server.url)
    pool = RedisPool(options)
    // No call is so rare that the connection is given back, however busy the machine is.
    pipeline = RedisPipeline(server.address, pool, silence: options.silence, idleTime: .seconds(3_600))
  }

  private func echo(_ text: String) -> RedisRequest { RedisRequest(0, RedisCommand("ECHO", text)) }

  /// A call that the server lets wait until something is pushed.
  private let blocking = RedisRequest(0, RedisCommand("BLPOP", "list", "0"))

  private func text(_ outcome: RedisPipelinedCall.Outcome) -> String? {
    if case .answered(let reply) = outcome { reply.value.text } else { nil }
  }

  /// Whether the server was asked, in vain, and was silent or not.
  private func isLost(_ outcome: RedisPipelinedCall.Outcome, silent: Bool = false) -> Bool {
    if case .lost(let isSilent) = outcome { isSilent == silent } else { false }
  }

  private func isUnsent(_ outcome: RedisPipelinedCall.Outcome) -> Bool {
    if case .unsent = outcome { true } else { false }
  }

  private func open(_ pipeline: RedisPipeline) async throws {
    try await until("the pipeline is open") { text(await pipeline.answer(echo("open"))) == "open" }
  }

  /// A call that is blocked on the server.
  private func blockedCall() async throws -> Task<RedisPipelinedCall.Outcome, Never> {
    try await open(pipeline)
    let call = Task { [pipeline, blocking] in await pipeline.answer(blocking) }
    try await blocked()
    return call
  }

  private func blocked() async throws {
    try await until("a call is blocked") {
      try server.ask("INFO", "clients").text?.contains("blocked_clients:1\r\n") == true
    }
  }

  /// An engine whose reads and changes take the pipelines.
  private func engine() async throws -> RedisEngine {
    let engine = try #require(try await RedisPlugin().open(server.url) as? RedisEngine)
    var batch = WriteBatch()
    batch.remove(try CacheKey("cities/none"))
    let removal = engine.store.application(try RedisBatch(batch), part: 0, .apply(nil))
    for request in [echo("open"), try removal.request(engine.store.options)] {
      try await until("the pipeline is open") {
        var attempt: RedisAttempt?
        return await engine.pipelines.answer(request, &attempt) != nil
      }
    }
    return engine
  }

  @Test("The third call opens it, and takes a connection that is open already")
  func opening() async throws {
    pool.give(try pool.take(server.address).connection)
    for _ in 0..<3 { #expect(isUnsent(await pipeline.answer(echo("early")))) }
    try await open(pipeline)
    let clients = try #require(try server.ask("CLIENT", "LIST").text).split(whereSeparator: \.isNewline)
    #expect(clients.count { $0.contains("name=cachectl") } == 1, "\(clients)")
    pipeline.close()
  }

  @Test("Each caller gets its own answer, however many there are", arguments: [1, 2, 64])
  func order(_ callers: Int) async throws {
    try await open(pipeline)
    let wrong = await withTaskGroup(of: [String].self) { group in
      for caller in 0..<callers {
        group.addTask {
          var wrong: [String] = []
          for number in 0..<2_000 / callers {
            let question = "\(caller) \(number)"
            let answer = await pipeline.answer(echo(question))
            if text(answer) != question { wrong.append("\(question): \(answer)") }
          }
          return wrong
        }
      }
      return await group.reduce(into: []) { $0 += $1 }
    }
    #expect(wrong.isEmpty, "\(wrong.prefix(3))")
    pipeline.close()
  }

  private final class Refusals: Sendable {
    let count = Atomic(0)
  }

  @Test("Where the socket takes no more, a command is sent whole or not at all")
  func full() async throws {
    try await open(pipeline)
    server.pause()
    let refusals = Refusals()
    let calls = (0..<4_000).map { number in
      Task { [pipeline] in
        let question = "\(number) " + String(repeating: "x", count: 12_000)
        let answer = await pipeline.answer(echo(question))
        if isUnsent(answer) { refusals.count.add(1, ordering: .relaxed) }
        return isUnsent(answer) ? nil : text(answer) == question
      }
    }
    try await until("the socket is full") { refusals.count.load(ordering: .relaxed) > 0 }
    server.resume()
    var (answered, unsent) = (0, 0)
    for call in calls {
      guard let isRight = await call.value else {
        unsent += 1
        continue
      }
      #expect(isRight)
      answered += 1
    }
    #expect(answered > 0 && unsent > 0, "\(answered) \(unsent)")
    #expect(text(await pipeline.answer(echo("after"))) == "after")
    pipeline.close()
  }

  @Test("A long command goes another way")
  func longCommand() async throws {
    try await open(pipeline)
    #expect(isUnsent(await pipeline.answer(echo(String(repeating: "x", count: 20_000)))))
    pipeline.close()
  }

  @Test("A cancelled call returns at once, and nobody gets its answer")
  func cancellation() async throws {
    let call = try await blockedCall()
    call.cancel()
    #expect(isLost(await call.value))
    let next = Task { [pipeline] in await pipeline.answer(echo("next")) }
    try server.ask("RPUSH", "list", "for the cancelled one")
    #expect(text(await next.value) == "next")
    #expect(text(await pipeline.answer(echo("last"))) == "last")
    pipeline.close()
  }

  @Test("When the connection breaks, its calls are lost, and another one is opened")
  func breaking() async throws {
    let call = try await blockedCall()
    try server.ask("CLIENT", "KILL", "TYPE", "normal")
    #expect(isLost(await call.value))
    try await open(pipeline)
    pipeline.close()
  }

  @Test("Closing ends the calls, the connection and the thread")
  func closing() async throws {
    let call = try await blockedCall()
    pipeline.close()
    #expect(isLost(await call.value))
    #expect(isUnsent(await pipeline.answer(echo("late"))))
    try await until("the connection is gone") {
      try server.ask("CLIENT", "LIST").text?.contains("name=cachectl") == false
    }
  }

  @Test("A connection that nobody uses goes back to the others, and the next call gets it again")
  func idling() async throws {
    let pipeline = RedisPipeline(
      server.address, pool, silence: .milliseconds(patience), idleTime: .milliseconds(20))
    try await open(pipeline)
    try await until("the connection is back") { try pool.take(server.address).wasIdle }
    try await open(pipeline)
    pipeline.close()
  }

  @Test("A silent server is noted, and its calls are lost")
  func silence() async throws {
    let pipeline = RedisPipeline(server.address, pool, silence: .milliseconds(100))
    try await open(pipeline)
    server.pause()
    #expect(isLost(await pipeline.answer(echo("anybody")), silent: true))
    #expect(pool.isSilent(server.address))
    server.resume()
    try await until("the server is found again") { !pool.isSilent(server.address) }
    try await open(pipeline)
    pipeline.close()
    pool.close()
  }

  @Test("An error is left to the router, as if the server had not been asked")
  func errors() async throws {
    let engine = try await engine()
    try server.ask("SET", "list", "no list")
    var attempt: RedisAttempt?
    #expect(await engine.pipelines.answer(blocking, &attempt) == nil)
    #expect(attempt == nil)
    try await engine.close()
  }

  @Test("A change under way in a pipeline when the store is closed ends as if it were not")
  func closingEngine() async throws {
    let engine = try await engine()
    try server.ask("CLIENT", "PAUSE", "600000", "WRITE")
    let writing = Task { try await engine.put("cities/a", "1") }
    try await blocked()
    let closing = Task { try await engine.close() }
    try await until("no other call is taken") { await code { _ = try await engine.text("cities/a") } == .closed }
    try server.ask("SCRIPT", "FLUSH")
    try server.ask("CLIENT", "UNPAUSE")
    try await writing.value
    try await closing.value
    #expect(try server.ask("EXISTS", "cachectl:cities/a").integer == 1)
  }

  @Test("A change that a pipeline has lost is made once, and its name is kept")
  func lostChange() async throws {
    let engine = try await engine()
    try await engine.put("cities/a", "1")
    try server.ask("CLIENT", "PAUSE", "600000", "WRITE")
    let writing = Task { try await engine.put("cities/a", "2") }
    try await blocked()
    // No read waits behind it.
    #expect(try await engine.text("cities/a") == "1")
    try server.ask("CLIENT", "KILL", "TYPE", "normal")
    try await blocked()
    try server.ask("CLIENT", "UNPAUSE")
    try await writing.value
    #expect(try await engine.text("cities/a") == "2")
    // What was sent first may still arrive: its writer has no later batch, by which the server would forget it.
    #expect(engine.store.writers.next().number == 1)
    try await engine.close()
  }

  @Test("A change that a silent server did not answer may have been made, and later calls fail at once")
  func silentChange() async throws {
    let engine = try await patiently {
      try await RedisPlugin().open(server.url, ["timeout": .integer(300)]) as? RedisEngine
    }
    let open = try #require(engine)
    for _ in 0..<20 { try await patiently { try await open.put("cities/a", "1") } }
    server.pause()
    let error = await #expect(throws: CacheError.self) { try await open.put("cities/a", "2") }
    #expect(error?.code == .unreachable)
    #expect(error?.message.contains("is not known") == true, "\(error?.message ?? "")")
    let next = await #expect(throws: CacheError.self) { _ = try await open.text("cities/a") }
    #expect(next?.message.contains("asked again") == true, "\(next?.message ?? "")")
    server.resume()
    _ = try await patiently { try await open.text("cities/a") }
    try await open.close()
  }
}
