import CacheData
import CacheDomain
import EngineConformance
import EngineAPI
import Testing

@testable import CacheCore

struct CacheCoreTests {
  private static let request = CitiesRequestDTO(origin: "o", query: CitiesQuery())

  enum Seen: Sendable { case fresh, stale, absent }

  @Test(arguments: [
    (0, Seen.fresh), (59_999, .fresh), (60_000, .stale), (60_001, .stale), (299_999, .stale), (300_000, .absent),
    (300_001, .absent), (-1, .fresh),
  ])
  func entriesAreJudgedByTheClock(milliseconds: Int, seen: Seen) async throws {
    let test = try await TestStore()
    try await test.cities.store(
      CitiesPageDTO(.sample), head: test.head(), for: Self.request)
    test.clock.advance(by: .milliseconds(milliseconds))
    let (now, stored) = (test.clock.now.sinceEpoch, try await test.cities.response(for: Self.request))
    #expect((stored != nil) == (seen != .absent))
    #expect(stored.map { $0.head.age(at: now) } == (seen == .absent ? nil : .milliseconds(max(0, milliseconds))))
    #expect(stored.map { $0.head.freshUntil <= now } == (seen == .absent ? nil : seen == .stale))
    #expect(test.store.uses.counts == (seen == .absent ? OperationCounts(misses: 1) : OperationCounts(hits: 1)))
  }

  @Test func anEntryThatIsKeptForNoTimeIsNeverThere() async throws {
    let test = try await TestStore()
    let head = test.head(fresh: .zero, kept: .zero)
    try await test.cities.store(CitiesPageDTO(.sample), head: head, for: Self.request)
    #expect(try await test.cities.response(for: Self.request) == nil)
  }

  @Test(arguments: [nil, "", "W/\"abc\"", "é\n\u{0}"])
  func validatorsComeBack(validator: String?) async throws {
    let test = try await TestStore()
    try await test.cities.store(
      CitiesPageDTO(.sample), head: test.head(validator), for: Self.request)
    let stored = try #require(try await test.cities.response(for: Self.request))
    #expect(stored.head.head.fields["etag"] == validator)
    #expect(stored.response.toDomain() == .sample)
  }

  @Test func storingAgainReplacesTheAnswerItsValidatorAndItsTimes() async throws {
    let test = try await TestStore()
    try await test.cities.store(
      CitiesPageDTO(.sample), head: test.head("v1"), for: Self.request)
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
        response: head.head.fields, request: HTTPRequest(url: "https://example.com/", fields: ["Accept": "a"]),
        key: .ofProcess))
    try await test.cities.store(CitiesPageDTO(.sample), head: head, for: Self.request)
    let stored = try #require(try await test.cities.response(for: Self.request)).head
    #expect(
      Set(stored.head.fields.lines.map { "\($0.name.lowercased()): \($0.value)" })
        == Set(head.head.fields.lines.map { "\($0.name.lowercased()): \($0.value)" }))
    head.head.fields = stored.head.fields
    #expect(stored == head)
  }

  @Test func onlyTheFirstLookUpOfAFetchIsCounted() async throws {
    let test = try await TestStore()
    _ = try await test.cities.response(for: Self.request, isCounted: false)
    #expect(test.store.uses.counts == OperationCounts())
  }

  @Test(arguments: [0, 1, 256, 100_000])
  func postersAreKeptAsTheyCame(count: Int) async throws {
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
    try await test.cities.store(
      CitiesPageDTO(.sample), head: test.head(), for: Self.request)
    let key = try #require(try await test.onlyKey())
    let entry = try await StoreAdministration(test.store).entry(key)
    #expect(
      String(decoding: entry?.payload ?? [], as: UTF8.self) == """
        {"items":[{"id":"KY/LOUISVILLE","name":"Louisville","organizationCount":3,"revenue":12,"subName":"KY"}],\
        "page":0,"totalItems":26,"totalPages":2}
        """)
    #expect(entry?.summary.metadata.contentType == "application/json")
  }

  @Test func absentIsNoError() async throws {
    let test = try await TestStore()
    #expect(try await test.cities.response(for: Self.request) == nil)
    #expect(test.store.uses.counts == OperationCounts(misses: 1))
  }

  @Test func aClosedStoreIsAnErrorAndNotAMiss() async throws {
    let test = try await TestStore()
    try await test.store.close()
    let code = await errorCode { () async throws(CacheError) in _ = try await test.cities.response(for: Self.request) }
    #expect(code?.rawValue == CacheError.Code.closed.rawValue)
    #expect(test.store.uses.counts == OperationCounts())
  }
}
