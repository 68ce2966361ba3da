import CacheData
import CacheDomain
import EngineAPI
import EngineConformance
import Foundation
import Synchronization
import TestStorage
import Testing
@testable import CacheCore

struct MappingTests {
  private static let cities = [
    City(id: "KY/LOUISVILLE", name: "Louisville", subName: "KY", revenue: 12, organizationCount: 3),
    City(id: "?", name: "São \"Paulo\" / 東京", subName: nil, revenue: nil, organizationCount: nil),
    City(id: "", name: "", subName: "", revenue: .max, organizationCount: 0),
    City(id: "x", name: "x", subName: "x", revenue: .min, organizationCount: .max),
  ]

  private static let movies = [
    Movie(
      id: "7", title: "Amélie", overview: "She\nhelps.", releaseDate: "2001-04-25", posterPath: "/7.png",
      genres: ["Comedy", "Romance"]),
    Movie(id: "", title: "", overview: nil, releaseDate: nil, posterPath: nil, genres: []),
    Movie(id: "8", title: "\u{1F3AC}\u{0}", overview: "", releaseDate: "1999", posterPath: "", genres: [""]),
  ]

  private func throughJSON<Value: Codable>(_ value: Value) throws -> Value {
    try JSONDecoder().decode(Value.self, from: JSONEncoder().encode(value))
  }

  @Test(arguments: 0...4) func pagesOfCitiesComeBack(count: Int) throws {
    let page = CitiesPage(page: count, totalPages: 9, totalItems: 99, cities: Array(Self.cities.prefix(count)))
    #expect(CitiesPageDTO(page).toDomain() == page)
    #expect(try throughJSON(CitiesPageDTO(page)).toDomain() == page)
  }

  @Test(arguments: 0...3) func pagesOfMoviesComeBack(count: Int) throws {
    let page = MoviesPage(page: count, totalPages: 9, totalItems: 99, movies: Array(Self.movies.prefix(count)))
    #expect(MoviesPageDTO(page).toDomain() == page)
    #expect(try throughJSON(MoviesPageDTO(page)).toDomain() == page)
  }

  @Test func storedNamesAreTheOnesThatNativeToolsDocument() throws {
    let cities = CitiesPage(page: 1, totalPages: 2, totalItems: 3, cities: [Self.cities[0]])
    #expect(
      try keys(CitiesPageDTO(cities)) == [
        "items", "items.id", "items.name", "items.organizationCount", "items.revenue", "items.subName", "page",
        "totalItems", "totalPages",
      ])
    let movies = MoviesPage(page: 1, totalPages: 2, totalItems: 3, movies: [Self.movies[0]])
    #expect(
      try keys(MoviesPageDTO(movies)) == [
        "items", "items.genres", "items.id", "items.overview", "items.posterPath", "items.releaseDate", "items.title",
        "page", "totalItems", "totalPages",
      ])
  }

  /// The names in the JSON of `value`, including those of its items.
  private func keys(_ value: some Encodable) throws -> [String] {
    let object = try JSONSerialization.jsonObject(with: JSONEncoder().encode(value)) as? [String: Any]
    let item = (object?["items"] as? [[String: Any]])?.first ?? [:]
    return (try #require(object).keys.map(\.self) + item.keys.map { "items.\($0)" }).sorted()
  }
}

/// The hand-written reader reads what Foundation's encoder writes.
@Suite struct JSONPayloadTests {
  @Test(arguments: [
    CitiesPage(page: 0, totalPages: 0, totalItems: 0, cities: []),
    CitiesPage(
      page: 3, totalPages: 243, totalItems: 6_057,
      cities: [
        City(id: "1", name: "NEW \"YORK\"\n", subName: "NY", revenue: Int.max, organizationCount: 0),
        City(id: "", name: "Zürich 😀 \u{0}/\\", subName: nil, revenue: nil, organizationCount: nil),
        City(id: "2", name: "Minus", subName: "", revenue: -1, organizationCount: nil),
      ]),
  ])
  func citiesComeBack(page: CitiesPage) throws { #expect(try roundTrip(CitiesPageDTO(page)).toDomain() == page) }

  @Test(arguments: [
    MoviesPage(page: 1, totalPages: 0, totalItems: 0, movies: []),
    MoviesPage(
      page: 1, totalPages: 2, totalItems: 21,
      movies: [
        Movie(
          id: "7", title: "Heat", overview: "A \"thief\"", releaseDate: "1995-12-15", posterPath: "/a.jpg",
          genres: ["Crime", ""]),
        Movie(id: "8", title: "", overview: nil, releaseDate: nil, posterPath: nil, genres: []),
      ]),
  ])
  func moviesComeBack(page: MoviesPage) throws { #expect(try roundTrip(MoviesPageDTO(page)).toDomain() == page) }

  @Test func unknownMembersAreSkippedAndNullsAreAbsent() throws {
    let page = try decode(
      #"{"more": [{"a": 1}], "page": 0, "totalPages": 1, "totalItems": 1, "items": [{"id": "1", "name": "A", "x": 1.5, "subName": null}]}"#
    )
    let city = City(id: "1", name: "A", subName: nil, revenue: nil, organizationCount: nil)
    #expect(page.toDomain() == CitiesPage(page: 0, totalPages: 1, totalItems: 1, cities: [city]))
  }

  @Test(arguments: [
    "", "{}", "[]", #"{"page": 0, "totalPages": 1, "totalItems": 1}"#,
    #"{"totalPages": 1, "totalItems": 1, "items": []}"#,
    #"{"page": "0", "totalPages": 1, "totalItems": 1, "items": []}"#,
    #"{"page": 0, "totalPages": 1, "totalItems": 1, "items": [{"id": "1"}]}"#,
    #"{"page": 0, "totalPages": 1, "totalItems": 1, "items": [{"id": null, "name": "A"}]}"#,
    #"{"page": 0, "totalPages": 1, "totalItems": 1, "items": []} x"#,
  ])
  func otherShapesAreAnotherType(text: String) {
    let error = #expect(throws: CacheError.self) { try decode(text) }
    #expect(error?.code == .wrongType)
    #expect(error?.message.contains("entry cities/v1/test") == true)
  }

  private func decode(_ text: String) throws -> CitiesPageDTO { try decode(CitiesPageDTO.self, Array(text.utf8)) }

  private func roundTrip<Payload: JSONPayload>(_ payload: Payload) throws -> Payload {
    try decode(Payload.self, PayloadCodec<Payload>.json.encode(payload).payload)
  }

  private func decode<Payload: JSONPayload>(_ type: Payload.Type, _ bytes: [UInt8]) throws -> Payload {
    try PayloadCodec<Payload>.json.decode(bytes.span, CacheKey("cities/v1/test"), "application/json")
  }
}

/// The store of the queries, at second 1,000.
private struct QueriesStore {
  let clock = ManualClock(Timestamp(milliseconds: 1_000_000))
  let engine: FaultyEngine
  let store: EntryStore

  init() {
    engine = FaultyEngine(over: RegistryEngine(registry: StoreRegistry(), clock: clock))
    store = EntryStore(engine: engine, clock: clock)
  }

  func queries(_ maximumCount: Int = 10) -> DefaultMovieQueriesRepository {
    DefaultMovieQueriesRepository(store: store, maximumCount: maximumCount)
  }
}

struct MovieQueriesTests {
  private func query(_ text: String) throws -> MovieQuery { try #require(MovieQuery(text)) }

  private func texts(_ storage: DefaultMovieQueriesRepository) async throws -> [String] {
    try await storage.recentQueries().map(\.query.text)
  }

  @Test(arguments: [
    ([], 10, []), (["a"], 10, ["a"]), (["a", "b", "c"], 10, ["c", "b", "a"]), (["a", "b", "a"], 10, ["a", "b"]),
    (["a", "a", "a"], 10, ["a"]), (["a", "b", "c", "d"], 3, ["d", "c", "b"]),
    (["a", "b", "c", "a"], 3, ["a", "c", "b"]), (["a", "b"], 1, ["b"]), (["a", "a"], 1, ["a"]), (["a", "b"], 0, []),
    (["a", "A"], 10, ["A", "a"]),
  ])
  func theNewestComeFirstEachOnceUpToTheMaximum(saved: [String], maximum: Int, expected: [String]) async throws {
    let test = QueriesStore()
    let storage = test.queries(maximum)
    for text in saved { try await storage.save(try query(text)) }
    #expect(try await texts(storage) == expected)
  }

  @Test func asManyAreKeptAsAreWantedAndNoMore() async throws {
    let test = QueriesStore()
    for number in 0..<25 { try await test.queries().save(try query("q\(number)")) }
    #expect(try await texts(test.queries()) == (15..<25).reversed().map { "q\($0)" })
    #expect(try await texts(test.queries(3)) == ["q24", "q23", "q22"])
    #expect(try await texts(test.queries(0)) == [])
    // A larger maximum does not bring queries back.
    #expect(try await texts(test.queries(100)).count == 10)
  }

  @Test func timesOfSearchingAreKept() async throws {
    let test = QueriesStore()
    try await test.queries().save(try query("a"))
    test.clock.advance(by: .milliseconds(1_234))
    try await test.queries().save(try query("b"))
    let expected = [
      RecentMovieQuery(query: try query("b"), searchedAt: .milliseconds(1_001_234)),
      RecentMovieQuery(query: try query("a"), searchedAt: .milliseconds(1_000_000)),
    ]
    #expect(try await test.queries().recentQueries() == expected)
    test.clock.advance(by: .seconds(10))
    try await test.queries().save(try query("a"))
    #expect(
      try await test.queries().recentQueries().map(\.searchedAt) == [
        .milliseconds(1_011_234), .milliseconds(1_001_234),
      ])
  }

  @Test func queriesNeverExpire() async throws {
    let test = QueriesStore()
    try await test.queries().save(try query("a"))
    test.clock.set(Timestamp(milliseconds: Timestamp.distantFuture.milliseconds - 1))
    try await test.engine.compact()
    #expect(try await texts(test.queries()) == ["a"])
    try await test.queries().save(try query("b"))
    #expect(try await texts(test.queries()) == ["b", "a"])
  }

  @Test(arguments: ["é\n\"quoted\" / 東京 😀", String(repeating: "long ", count: 5_000)])
  func anyTextComesBack(text: String) async throws {
    let test = QueriesStore()
    try await test.queries().save(try query(text))
    #expect(try await test.queries().recentQueries().map(\.query) == [try query(text)])
  }

  @Test func nothingIsLostIfManySaveAtOnce() async throws {
    let test = QueriesStore()
    let queries = try (0..<64).map { try query("q\($0)") }
    let storage = test.queries(100)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for query in queries { group.addTask { try await storage.save(query) } }
      try await group.waitForAll()
    }
    #expect(Set(try await texts(storage)) == Set(queries.map(\.text)))
    #expect(try await texts(storage).count == 64)
  }

  @Test(arguments: [0, 1, 2, 999]) func aConflictIsTriedAgain(conflicts: Int) async throws {
    let test = QueriesStore()
    test.engine.refuse(conflicts)
    try await test.queries().save(try query("a"))
    #expect(test.engine.batches.count == conflicts + 1)
    #expect(try await texts(test.queries()) == ["a"])
  }

  @Test func aWriterThatAlwaysLosesGivesUp() async throws {
    let test = QueriesStore()
    try await test.queries().save(try query("before"))
    test.engine.refuse(.max)
    let wanted = try query("a")
    #expect(await errorCode { try await test.queries().save(wanted) } == .conflict)
    #expect(test.engine.batches.count == 1 + 1_000)
    #expect(try await texts(test.queries()) == ["before"])
  }

  @Test func aCancelledCallerStopsTrying() async throws {
    let test = QueriesStore()
    test.engine.refuse(.max)
    let wanted = try query("a")
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return await errorCode { try await test.queries().save(wanted) }
    }
    #expect(await task.value == .cancelled)
    #expect(test.engine.batches.count == 1)
  }

  @Test func damageIsAnErrorAndIsNotWrittenOver() async throws {
    let test = QueriesStore()
    try await test.queries().save(try query("a"))
    test.engine.alter { entry in (entry.key, entry.payload + [0], entry.metadata) }
    let wanted = try query("b")
    let codes = await [
      errorCode { try await test.queries().save(wanted) }, errorCode { _ = try await test.queries().recentQueries() },
    ]
    #expect(codes == [.damaged, .damaged])
    test.engine.alter { $0 }
    #expect(try await texts(test.queries()) == ["a"])
  }
}
