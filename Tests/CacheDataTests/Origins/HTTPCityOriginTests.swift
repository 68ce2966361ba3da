import CacheData
import CacheDomain
import Testing

/// The package's own protocol: the tool can read what it prints.
struct HTTPCityOriginTests {
  private func answer(_ body: String, page: Int = 0) async throws -> CitiesPage? {
    let origin = HTTPCityOrigin(try server("https://a.example/cities", .json(body)))
    return try await origin.answer(to: Asked.cities(CitiesQuery(page: page)), conditions: [:]).response?.toDomain()
  }

  private static let printed = #"""
    {"resource": "cities", "source": "cache", "revalidated": false, "stale": false, "backend": "lmdb", "key": "k",
     "storedAt": "2024-01-01T00:00:00Z", "freshUntil": "2024-01-01T01:00:00Z", "page": 2, "totalPages": 243,
     "totalItems": 6057, "items": [
       {"id": "KY/LOUISVILLE", "name": "LOUISVILLE", "subName": "KY", "revenue": 12000000000, "organizationCount": 3},
       {"id": "x", "name": "São Paulo", "subName": null, "revenue": null, "organizationCount": null},
       {"id": "y", "name": "", "more": {"a": [1]}, "revenue": -1}]}
    """#

  @Test func thePrintedDocumentIsRead() async throws {
    let expected = CitiesPage(
      page: 2, totalPages: 243, totalItems: 6_057,
      cities: [
        City(
          id: "KY/LOUISVILLE", name: "LOUISVILLE", subName: "KY", revenue: 12_000_000_000, organizationCount: 3),
        City(id: "x", name: "São Paulo", subName: nil, revenue: nil, organizationCount: nil),
        City(id: "y", name: "", subName: nil, revenue: -1, organizationCount: nil),
      ])
    #expect(try await answer(Self.printed, page: 2) == expected)
  }

  @Test func noMoreThanThePageIsNeeded() async throws {
    let page = try await answer(#"{"page": 0, "totalPages": 0, "totalItems": 0, "items": []}"#)
    #expect(page == CitiesPage(page: 0, totalPages: 0, totalItems: 0, cities: []))
  }

  private static let notUnderstood = "http@a.example/cities sent an answer that is not understood: "

  @Test(arguments: [
    (#"{"totalPages": 0, "totalItems": 0, "items": []}"#, notUnderstood + "'page' is missing"),
    (#"{"page": 0, "totalItems": 0, "items": []}"#, notUnderstood + "'totalPages' is missing"),
    (#"{"page": 0, "totalPages": 0, "totalItems": 0}"#, notUnderstood + "'items' is missing"),
    (#"{"page": 0, "totalPages": 0, "totalItems": 0, "items": null}"#, notUnderstood + "'items' is null"),
    (
      #"{"page": 0, "totalPages": -1, "totalItems": 0, "items": []}"#,
      notUnderstood + "'totalPages' is negative"
    ),
    (
      #"{"resource": "movies", "page": 0, "totalPages": 1, "totalItems": 0, "items": []}"#,
      notUnderstood + "'resource' is not 'cities'"
    ),
    (
      #"{"page": 0, "totalPages": 1, "totalItems": 1, "items": [{"id": 1, "name": "a"}]}"#,
      notUnderstood + "'items[0].id' is not a text"
    ),
    (
      #"{"page": 0, "totalPages": 1, "totalItems": 1, "items": [{"id": "1"}]}"#,
      notUnderstood + "'items[0].name' is missing"
    ),
    (
      #"{"page": 0, "totalPages": 1, "totalItems": 1, "items": [{"id": "1", "name": "a", "revenue": "12"}]}"#,
      notUnderstood + "'items[0].revenue' is not a whole number"
    ),
    (
      #"{"page": 0, "totalPages": 1, "totalItems": 1, "items": [{"id": "1", "name": "a", "revenue": 1.5}]}"#,
      notUnderstood + "'items[0].revenue' is not a whole number, or is too large"
    ),
    (
      #"{"page": 0, "totalPages": 1, "totalItems": 1, "items": [{"id": "1", "name": "a", "revenue": 1e300}]}"#,
      notUnderstood + "'items[0].revenue' is not a whole number, or is too large"
    ),
    (
      #"{"page": 0.5, "totalPages": 1, "totalItems": 0, "items": []}"#,
      notUnderstood + "'page' is not a whole number, or is too large"
    ),
    (
      #"{"page": 0, "totalPages": 1, "totalItems": 1e30, "items": []}"#,
      notUnderstood + "'totalItems' is not a whole number, or is too large"
    ),
    (#"{"page": 0, "totalPages": 1, "totalItems": 0, "items": {}}"#, notUnderstood + "'items' is not a list"),
    ("[]", notUnderstood + "the whole is not an object"),
    (
      #"{"page": 1, "totalPages": 2, "totalItems": 0, "items": []}"#,
      "http@a.example/cities sent page 1 of cities for page 0"
    ),
    ("null", notUnderstood + "the whole is null"), ("{} {}", notUnderstood + "it is not valid JSON"),
  ])
  func whatIsNotUnderstoodIsSaid(body: String, message: String) async throws {
    let error = await #expect(throws: CacheError.self) { _ = try await answer(body) }
    #expect(error?.code == .invalidAnswer)
    #expect(error?.message == message)
    #expect(error?.hint.hasPrefix("check the base URL of this origin") == true)
  }

  @Test func bytesThatAreNoTextAreNotUnderstood() async throws {
    for bytes in [[0x22, 0xFF, 0xFE], Array(0...255), [0x1F, 0x8B, 8, 0]] as [[UInt8]] {
      let transfer = FakeTransfer(HTTPResponse(HTTPResponseHead(status: 200), body: bytes))
      let origin = HTTPCityOrigin(try server("https://a.example", transfer))
      let error = await failure { () throws(CacheError) in
        _ = try await origin.answer(to: Asked.cities(), conditions: [:])
      }
      #expect(error?.code == .invalidAnswer)
    }
  }
}
