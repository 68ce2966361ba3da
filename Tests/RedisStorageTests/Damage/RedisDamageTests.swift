import CacheCore
import EngineAPI
import Testing

@testable import RedisStorage

@Suite("The server's content differs from the written one")
struct RedisDamageTests {
  private let plugin = RedisPlugin()

  /// A change of the entry "cities/c", and the code of the error that follows.
  struct Damage: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let commands: [[String]]
    var code = CacheError.Code.damaged
  }

  /// The length of each entry.
  private static let length: Int = {
    guard let key = try? CacheKey("cities/c"), let entry = try? RedisEntry.encode(key, [1], .sample()) else { return 0 }
    return entry.count
  }()

  static let damages = [
    Damage(testDescription: "it is longer", commands: [["APPEND", "cachectl:cities/c", "x"]]),
    Damage(
      testDescription: "a length is garbled", commands: [["SETRANGE", "cachectl:cities/c", "\(length - 4)", "\u{7F}"]]),
    Damage(testDescription: "the metadata is garbled", commands: [["SETRANGE", "cachectl:cities/c", "1", "\u{7F}"]]),
    Damage(
      testDescription: "it is cut off", commands: [["SET", "cachectl:cities/c", "{\"page\":0}\u{10}application/j"]]),
    Damage(testDescription: "a text is in its place", commands: [["SET", "cachectl:cities/c", "of another program"]]),
    Damage(testDescription: "an empty text is in its place", commands: [["SET", "cachectl:cities/c", ""]]),
    Damage(testDescription: "a number is in its place", commands: [["SET", "cachectl:cities/c", "12"]]),
    Damage(
      testDescription: "a list is in its place",
      commands: [["DEL", "cachectl:cities/c"], ["RPUSH", "cachectl:cities/c", "of another program"]]),
    Damage(
      testDescription: "another version has written it",
      commands: [["EVAL", "redis.call('SETRANGE', KEYS[1], \(length - 1), '\\194')", "1", "cachectl:cities/c"]],
      code: .unsupportedFormat),
  ]

  /// A store with the entries a to e, of which c is damaged.
  private func store(_ damage: Damage) async throws -> (RedisServer, any StorageEngine) {
    let server = try RedisServer()
    let engine = try await plugin.open(server.url)
    for key in ["a", "b", "c", "d", "e"] { try await engine.put("cities/\(key)", "1") }
    for words in damage.commands { #expect(try server.ask(words).error == nil) }
    return (server, engine)
  }

  @Test("A read, a count and a check name it, and say what to do", arguments: damages)
  func named(_ damage: Damage) async throws {
    let (server, engine) = try await store(damage)
    let error = await #expect(throws: CacheError.self) { _ = try await engine.text("cities/c") }
    #expect(error?.code == damage.code && error?.message.contains("cities/c") == true, "\(error?.message ?? "")")
    #expect(error?.key == (damage.code == .damaged ? "cities/c" : nil))
    #expect(damage.code == .damaged ? error?.hint.isEmpty == true : error?.hint.contains("use that version") == true)
    #expect(await code { _ = try await engine.count() } == damage.code)
    #expect(try await engine.check().map { $0.key?.text } == ["cities/c"])
    #expect(try await engine.text("cities/b") == "1")
    server.stop()
    #expect(await code { _ = try await engine.text("cities/c") } == .unreachable)
    try await engine.close()
  }

  @Test(
    "A scan names it and continues behind it, with payloads or without, whatever the size of its pages",
    arguments: damages)
  func scanned(_ damage: Damage) async throws {
    let (server, engine) = try await store(damage)
    for limit in [1, 2, 3, 1_000] {
      for includesPayloads in [false, true] {
        var (found, unreadable) = (Set<String>(), Set<String>())
        var request = ScanRequest(limit: limit, includesPayloads: includesPayloads)
        for _ in 0..<100 {
          do throws(CacheError) {
            let page = try await engine.scan(request)
            #expect(page.entries.count <= limit)
            found.formUnion(page.entries.map(\.key.text))
            request.position = page.next
          } catch {
            let cause = try #require(error.cause as? UnreadableEntry)
            #expect(error.code == damage.code)
            unreadable.insert(cause.key.text)
            #expect(cause.next != nil)
            request.position = cause.next
          }
          if request.position == nil { break }
        }
        #expect(request.position == nil)
        #expect(found.sorted() == ["cities/a", "cities/b", "cities/d", "cities/e"] && unreadable == ["cities/c"])
      }
    }
    withExtendedLifetime(server) {}
    try await engine.close()
  }

  @Test("A batch that requires anything of it changes nothing and fails", arguments: damages)
  func required(_ damage: Damage) async throws {
    let (server, engine) = try await store(damage)
    let before = try server.cli("DUMP", "cachectl:cities/c")
    for expectation in [WriteBatch.Expectation.absent, .checksum(1), .checksum(0)] {
      // An entry with an intact checksum can be replaced on this precondition.
      if expectation == .checksum(1),
        damage.code == .unsupportedFormat || damage.testDescription.contains("the metadata is garbled")
          || damage.testDescription.contains("a length")
      {
        continue
      }
      var batch = WriteBatch()
      batch.put(try CacheKey("cities/b"), payload: [2], metadata: .sample())
      batch.require(try CacheKey("cities/c"), expectation)
      batch.put(try CacheKey("cities/c"), payload: [2], metadata: .sample())
      let failure = await engine.failure(of: batch)
      // Nothing is no entry of another checksum.
      let isNamed =
        expectation != .absent && damage.code == .damaged
        && !["empty", "the metadata is garbled", "a length"].contains {
          damage.testDescription.contains($0)
        }
      #expect(failure == (isNamed ? .damaged : .conflict), "\(expectation)")
    }
    #expect(try await engine.text("cities/b") == "1")
    #expect(try server.cli("DUMP", "cachectl:cities/c") == before)
    try await engine.close()
  }

  @Test("It can be removed and replaced", arguments: damages)
  func removed(_ damage: Damage) async throws {
    let (server, engine) = try await store(damage)
    let store = EntryStore(engine: engine, clock: SystemClock(), capabilities: plugin.declaration.capabilities)
    let administration = StoreAdministration(store)
    let keys = [try CacheKey("cities/c")]
    if damage.code == .damaged {
      #expect(try await administration.change(.remove, keys: keys, dryRun: false).entries == 1)
    } else {
      // It may be of a later version.
      #expect(await code { _ = try await administration.change(.remove, keys: keys, dryRun: false) } == damage.code)
      var batch = WriteBatch()
      batch.remove(keys[0])
      try await engine.apply(batch)
    }
    #expect(try await engine.check().map(\.message) == [])
    #expect(try await engine.keys().sorted() == ["cities/a", "cities/b", "cities/d", "cities/e"])
    try await engine.put("cities/c", "1")
    for words in damage.commands { #expect(try server.ask(words).error == nil) }
    try await engine.put("cities/c", "new")
    #expect(try await engine.text("cities/c") == "new")
    #expect(try await engine.check().map(\.message) == [])
    try await engine.close()
  }

  @Test("Every entry is looked at, however many there are")
  func manyEntries() async throws {
    let server = try RedisServer()
    let engine = try await plugin.open(server.url)
    var batch = WriteBatch()
    for number in 1_000..<2_234 { batch.put(try CacheKey("cities/\(number)"), payload: [1], metadata: .sample()) }
    try await engine.apply(batch)
    #expect(try await engine.check().map(\.message) == [])
    try server.ask("APPEND", "cachectl:cities/2233", "x")
    try server.ask("SET", "cachectl:cities/1500", "text")
    #expect(try await Set(engine.check().map { $0.key?.text }) == ["cities/1500", "cities/2233"])
    try await engine.close()
  }
}

extension RedisServer {
  fileprivate func ask(_ words: [String]) throws -> RedisValue {
    var command = RedisCommand()
    command.append(words)
    return try connection().exchange([command])[0]
  }
}
