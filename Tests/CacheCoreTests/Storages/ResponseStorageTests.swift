import CacheData
import CacheDomain
import EngineAPI
import EngineConformance
import FetchVocabulary
import MemoryStorage
import TestStorage
import Testing
@testable import CacheCore

struct ResponseStorageTests {
  private static let request = CitiesRequestDTO(origin: "o", query: CitiesQuery())

  enum Seen: Sendable { case fresh, stale, absent }

  @Test(arguments: [
    (0, Seen.fresh), (59_999, .fresh), (60_000, .stale), (60_001, .stale), (299_999, .stale), (300_000, .absent),
    (300_001, .absent), (-1, .fresh),
  ])
  func entriesAreJudgedByTheClock(milliseconds: Int, seen: Seen) async throws {
    let test = try await TestStore()
    try await test.cities.store(CitiesPageDTO(.sample), head: test.head(), for: Self.request)
    test.clock.advance(by: .milliseconds(milliseconds))
    let (now, stored) = (test.clock.now.sinceEpoch, try await test.cities.response(for: Self.request))
    #expect((stored != nil) == (seen != .absent))
    #expect(stored.map { $0.head.age(at: now) } == (seen == .absent ? nil : .milliseconds(max(0, milliseconds))))
    #expect(stored.map { $0.head.freshUntil <= now } == (seen == .absent ? nil : seen == .stale))
    #expect(test.store.uses.counts == (seen == .absent ? OperationCounts(misses: 1) : OperationCounts(hits: 1)))
  }

  @Test(arguments: [nil, "", "W/\"abc\"", "é\n\u{0}"]) func validatorsComeBack(validator: String?) async throws {
    let test = try await TestStore()
    try await test.cities.store(CitiesPageDTO(.sample), head: test.head(validator), for: Self.request)
    let stored = try #require(try await test.cities.response(for: Self.request))
    #expect(stored.head.head.fields["etag"] == validator)
    #expect(stored.response.toDomain() == .sample)
  }

  @Test func storingAgainReplacesTheResponseItsValidatorAndItsTimes() async throws {
    let test = try await TestStore()
    try await test.cities.store(CitiesPageDTO(.sample), head: test.head("v1"), for: Self.request)
    test.clock.advance(by: .seconds(100))
    let empty = CitiesPage(page: 0, totalPages: 0, totalItems: 0, cities: [])
    try await test.cities.store(CitiesPageDTO(empty), head: test.head(), for: Self.request)
    let stored = try #require(try await test.cities.response(for: Self.request))
    #expect(stored.response.toDomain() == empty)
    #expect(stored.head == test.head())
    #expect(stored.key == (try test.cities.key(for: Self.request)))
  }

  @Test func everythingThatDecidesOverTheUseComesBack() async throws {
    let test = try await TestStore()
    var head = test.head("\"1\"", fresh: .seconds(-5), kept: .seconds(500))
    head.head.status = 404
    head.head.fields["cache-control"] = "max-age=7, stale-if-error=9"
    head.head.fields["vary"] = "accept"
    head.initialAge = .seconds(12)
    head.selector = try #require(
      VariantSelector(
        response: head.head.fields, request: HTTP.Request(url: "https://example.com/", fields: ["Accept": "a"]),
        key: .ofProcess))
    try await test.cities.store(CitiesPageDTO(.sample), head: head, for: Self.request)
    let stored = try #require(try await test.cities.response(for: Self.request)).head
    #expect(
      Set(stored.head.fields.lines.map { "\($0.name.lowercased()): \($0.value)" })
        == Set(head.head.fields.lines.map { "\($0.name.lowercased()): \($0.value)" }))
    head.head.fields = stored.head.fields
    #expect(stored == head)
  }

  @Test func onlyTheFirstLookupOfAFetchIsCounted() async throws {
    let test = try await TestStore()
    _ = try await test.cities.response(for: Self.request, isCounted: false)
    #expect(test.store.uses.counts == OperationCounts())
  }

  @Test(arguments: [0, 1, 256, 100_000]) func postersAreKeptAsTheyCame(count: Int) async throws {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
    let test = try await TestStore()
    let request = PosterRequestDTO(origin: "o", query: PosterQuery(path: "/7.png"))
    let poster = Poster(bytes: bytes, contentType: "image/webp; q=1")
    try await test.posters.store(poster, head: test.head(), for: request)
    #expect(try await test.posters.response(for: request)?.response == poster)
    let key = try #require(try await test.onlyKey())
    let entry = try await StoreAdministration(test.store).entry(key)
    #expect(entry?.payload == bytes)
    #expect(entry?.summary.metadata.contentType == "image/webp; q=1")
  }

  @Test(arguments: ["", "null", "{}", "[]", "{\"page\":\"one\"}", "{\"page\":0", "\u{FF}"])
  func jsonOfAnotherShapeIsAnotherType(text: String) async throws {
    let test = try await TestStore()
    let key = try CacheKey(for: Self.request)
    let metadata = EntryMetadata(test.head(), contentType: "application/json", attributes: [:])
    try await test.store.write(key, payload: Array(text.utf8), metadata: metadata)
    let error = await #expect(throws: CacheError.self) { _ = try await test.cities.response(for: Self.request) }
    #expect(error?.code == .wrongType)
    #expect(error?.message.contains(key.text) == true)
    #expect(error?.key == key.text)
    #expect(test.store.uses.counts == OperationCounts())
  }

  @Test func payloadsAreTheJSONThatPeopleRead() async throws {
    let test = try await TestStore()
    try await test.cities.store(CitiesPageDTO(.sample), head: test.head(), for: Self.request)
    let key = try #require(try await test.onlyKey())
    let entry = try await StoreAdministration(test.store).entry(key)
    #expect(
      String(decoding: entry?.payload ?? [], as: UTF8.self) == """
        {"items":[{"id":"KY/LOUISVILLE","name":"Louisville","organizationCount":3,"revenue":12,"subName":"KY"}],\
        "page":0,"totalItems":26,"totalPages":2}
        """)
    #expect(entry?.summary.metadata.contentType == "application/json")
  }

  @Test func aClosedStoreIsAnErrorAndNotAMiss() async throws {
    let test = try await TestStore()
    try await test.store.close()
    let code = await errorCode { _ = try await test.cities.response(for: Self.request) }
    #expect(code?.rawValue == CacheError.Code.closed.rawValue)
    #expect(test.store.uses.counts == OperationCounts())
  }
}

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

  @Test func anUpdateGetsTheStoredEntry() async throws {
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

  @Test func anErrorOfAnUpdateEndsItAndChangesNothing() async throws {
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

  @Test func onlyKeysOfUnexpiredEntriesAreListed() async throws {
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

  @Test func aResponseOfAnOriginIsStoredByAnyCodec() async throws {
    let reversed = PayloadCodec<[UInt8]>(
      "reversed", encode: { bytes in (Array(bytes.reversed()), "application/x-reversed") },
      decode: { bytes, _, _ in bytes.withUnsafeBufferPointer { Array($0.reversed()) } })
    let storage = EngineResponseStorage<Request, [UInt8]>(store: store, codec: reversed)
    let head = StoredHead(
      head: HTTP.ResponseHead(status: 200, fields: ["ETag": "\"1\""]), storedAt: clock.now.sinceEpoch,
      freshUntil: clock.now.sinceEpoch + .seconds(1), retainUntil: clock.now.sinceEpoch + .seconds(2))
    try await storage.store([1, 2, 3], head: head, for: Request(name: "a"))
    let stored = try #require(try await storage.response(for: Request(name: "a"), isCounted: true))
    #expect(stored.response == [1, 2, 3])
    #expect(stored.head.head.fields["etag"] == "\"1\"")
    let payload = try await store.read(try key("a")) { bytes, _ in bytes.withUnsafeBufferPointer { Array($0) } }
    #expect(payload?.value == [3, 2, 1])
  }
}
