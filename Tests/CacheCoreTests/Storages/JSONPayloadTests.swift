import CacheData
import CacheDomain
import Foundation
import EngineAPI
import Testing

@testable import CacheCore

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
  func citiesComeBack(page: CitiesPage) throws {
    #expect(try roundTrip(CitiesPageDTO(page)).toDomain() == page)
  }

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
  func moviesComeBack(page: MoviesPage) throws {
    #expect(try roundTrip(MoviesPageDTO(page)).toDomain() == page)
  }

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

  private func decode(_ text: String) throws -> CitiesPageDTO {
    try decode(CitiesPageDTO.self, Array(text.utf8))
  }

  private func roundTrip<Payload: JSONPayload>(_ payload: Payload) throws -> Payload {
    try decode(Payload.self, PayloadCodec<Payload>.json.encode(payload).payload)
  }

  private func decode<Payload: JSONPayload>(_ type: Payload.Type, _ bytes: [UInt8]) throws -> Payload {
    try PayloadCodec<Payload>.json.decode(bytes.span, CacheKey("cities/v1/test"), "application/json")
  }
}
