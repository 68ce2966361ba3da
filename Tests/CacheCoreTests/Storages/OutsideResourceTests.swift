import CacheCore
import FetchVocabulary
import MemoryStorage
import EngineConformance
import EngineAPI
import TestStorage
import Testing

/// A resource of another library, made with the public interface alone.
struct OutsideResourceTests {
  private struct Request: CacheableRequest {
    static let resource = "notes"
    let name: String
    var parameters: [(name: String, value: String)] { [("name", name)] }
  }

  private struct Note: JSONPayload, Equatable {
    let text: String

    init(_ text: String) { self.text = text }

    init(json: inout JSONReader) throws(JSONReader.Failure) {
      var text: String?
      try json.object { json, member throws(JSONReader.Failure) in
        if member == "text" { text = try json.string() } else { try json.skipValue() }
      }
      self.init(try json.required(text, "text"))
    }

    func write(to json: inout JSONWriter) { json.object { $0.member("text", text) } }
  }

  private let clock = ManualClock(Timestamp(milliseconds: 1_000_000))
  private let store: EntryStore

  init() async throws {
    let configuration = try EngineConfiguration(for: MemoryPlugin().declaration, clock: clock)
    store = EntryStore(engine: try await MemoryPlugin().open(configuration), clock: clock)
  }

  private func key(_ name: String) throws -> CacheKey { try CacheKey(for: Request(name: name)) }

  private func put(_ text: String, at name: String, for duration: Duration = .seconds(60)) async throws {
    let end = clock.now.advanced(by: duration)
    try await store.update(try key(name), PayloadCodec<Note>.json) { _ in (Note(text), retainUntil: end) }
  }

  @Test func aKeyIsMadeOfTheRequest() throws {
    #expect(try key("a b").text == "notes/v1/name=a%20b")
    #expect(CacheKey.prefix(of: Request.self) == "notes/v1/")
  }

  @Test func aValueIsReadAsItWasWritten() async throws {
    #expect(try await store.read(try key("a"), PayloadCodec<Note>.json) == nil)
    try await put("text", at: "a")
    let (value, metadata) = try #require(try await store.read(try key("a"), PayloadCodec<Note>.json))
    #expect(value == Note("text"))
    #expect(metadata.contentType == "application/json")
    #expect(metadata.freshUntil == clock.now.advanced(by: .seconds(60)))
    #expect(metadata.retainUntil == metadata.freshUntil)
  }

  @Test func anUpdateIsGivenWhatIsThere() async throws {
    let key = try key("a")
    var seen: [String?] = []
    for number in 0..<3 {
      try await store.update(key, PayloadCodec<Note>.json) { current in
        seen.append(current?.text)
        return (Note("\(number)"), retainUntil: clock.now.advanced(by: .seconds(1)))
      }
    }
    clock.advance(by: .seconds(1))
    try await store.update(key, PayloadCodec<Note>.json) { current in
      seen.append(current?.text)
      return (Note("new"), retainUntil: .distantFuture)
    }
    #expect(seen == [nil, "0", "1", nil])
    #expect(try await store.read(key, PayloadCodec<Note>.json)?.value == Note("new"))
  }

  @Test func whatAnUpdateThrowsEndsItAndChangesNothing() async throws {
    try await put("before", at: "a")
    let key = try key("a")
    let error = await #expect(throws: CacheError.self) {
      try await store.update(key, PayloadCodec<Note>.json) { _ throws(CacheError) in
        throw CacheError(.invalidRequest, "not so")
      }
    }
    #expect(error?.code == .invalidRequest)
    #expect(try await store.read(key, PayloadCodec<Note>.json)?.value == Note("before"))
  }

  @Test func keysAreThoseOfWhatHasNotExpired() async throws {
    let names = (0..<2_500).map { "n\(10_000 + $0)" }
    for (number, name) in names.enumerated() {
      try await put(name, at: name, for: number.isMultiple(of: 2) ? .seconds(1) : .seconds(60))
    }
    try await store.update(try CacheKey("notesmore/v1/a"), PayloadCodec<Note>.json) { _ in
      (Note("other"), retainUntil: .distantFuture)
    }
    clock.advance(by: .seconds(1))
    let expected = try names.enumerated().filter { !$0.offset.isMultiple(of: 2) }.map { try key($0.element) }
    #expect(try await store.keys(prefix: CacheKey.prefix(of: Request.self)) == expected)
  }

  @Test func anAnswerOfAnOriginIsKeptByAnyCodec() async throws {
    let reversed = PayloadCodec<[UInt8]>(
      "reversed", encode: { bytes in (Array(bytes.reversed()), "application/x-reversed") },
      decode: { bytes, _, _ in bytes.withUnsafeBufferPointer { Array($0.reversed()) } })
    let storage = EngineResponseStorage<Request, [UInt8]>(store: store, codec: reversed)
    let head = StoredHead(
      head: HTTPResponseHead(status: 200, fields: ["ETag": "\"1\""]), storedAt: clock.now.sinceEpoch,
      freshUntil: clock.now.sinceEpoch + .seconds(1), retainUntil: clock.now.sinceEpoch + .seconds(2))
    try await storage.store([1, 2, 3], head: head, for: Request(name: "a"))
    let stored = try #require(try await storage.response(for: Request(name: "a"), isCounted: true))
    #expect(stored.response == [1, 2, 3])
    #expect(stored.head.head.fields["etag"] == "\"1\"")
    let payload = try await store.read(try key("a")) { bytes, _ in bytes.withUnsafeBufferPointer { Array($0) } }
    #expect(payload?.value == [3, 2, 1])
  }
}
