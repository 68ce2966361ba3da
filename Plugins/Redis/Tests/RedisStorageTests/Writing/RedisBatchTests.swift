import StorageSPI
import Testing

@testable import HiredisStorage

@Suite("Batches as a server takes them")
struct RedisBatchTests {
  private let key: CacheKey

  init() throws { key = try CacheKey("cities/a") }

  @Test("What a batch requires of its own operations is judged without a server", arguments: [true, false])
  func ownRequirements(_ holds: Bool) throws {
    var batch = WriteBatch()
    batch.require(key, .absent)
    batch.put(key, payload: [1], metadata: .sample(checksum: 7))
    batch.require(key, .checksum(holds ? 7 : 8))
    batch.remove(key)
    batch.require(key, .absent)
    guard holds else {
      let error = #expect(throws: CacheError.self) { try RedisBatch(batch) }
      #expect(error?.code == .conflict)
      return
    }
    let made = try RedisBatch(batch)
    #expect(made.requirements.map(\.expectation) == [.absent])
    guard case .remove? = made.changes[key] else {
      Issue.record("the last operation counts")
      return
    }
  }

  @Test(
    "A server remembers a batch for twice as long as it is sent again, and at least a minute",
    arguments: [(5_000, "60000"), (600_000, "1200000")])
  func remembered(_ timeout: Int64, _ expected: String) throws {
    var batch = WriteBatch()
    batch.put(key, payload: [1], metadata: .sample())
    let store = RedisStore(try options(.server, "redis://127.0.0.1:1", ["timeout": .integer(timeout)]))
    let application = store.application(try RedisBatch(batch), part: 0, .unbounded)
    guard case .script(_, _, let arguments) = try application.request(store.options).body else {
      Issue.record("a batch is no script")
      return
    }
    #expect(String(decoding: arguments[3], as: UTF8.self) == expected)
  }

  @Test("What a server does not take is refused before anything is sent")
  func tooLarge() throws {
    var single = WriteBatch()
    single.put(key, payload: .init(repeating: 0, count: (512 << 20) + 1), metadata: .sample())
    #expect(throws: CacheError.self) { try RedisBatch(single) }
    var many = WriteBatch()
    let payload = [UInt8](repeating: 0, count: 100 << 20)
    for number in 0..<10 { many.put(try CacheKey("cities/\(number)"), payload: payload, metadata: .sample()) }
    let error = #expect(throws: CacheError.self) { try RedisBatch(many) }
    #expect(error?.code == .tooLarge)
  }
}
