import Foundation
import TestOrigin
import Testing

/// The canned origins have the shapes and quirks of the services that they stand for.
@Suite struct CannedOriginTests {
  private static func document(_ answer: String) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(answer.content.utf8)) as? [String: Any])
  }

  /// The members of the document that `server` answers, whose chunk is taken apart.
  private static func search(_ server: TestServer, _ query: String) throws -> [String: Any] {
    let answer = try RawClient.answer(of: server, to: "GET \(NonprofitOrigin.path)\(query) HTTP/1.1")
    let lines = answer.content.components(separatedBy: "\r\n")
    let chunks = stride(from: 1, to: lines.count, by: 2).map { lines[$0] }
    return try #require(try JSONSerialization.jsonObject(with: Data(chunks.joined().utf8)) as? [String: Any])
  }

  @Test(arguments: [(0, 25), (1, 25), (2, 10), (3, 0)])
  func organisationsComeInPages(page: Int, count: Int) throws {
    let origin = try NonprofitOrigin(organizations: 60)
    let body = try Self.search(origin.server, "?page=\(page)")
    #expect((body["organizations"] as? [Any])?.count == count)
    #expect(body["total_results"] as? Int == 60 && body["num_pages"] as? Int == 3)
    #expect(body["page_offset"] as? Int == page * 25 && body["per_page"] as? Int == 25)
  }

  @Test(arguments: [(Int.max, Int.max / 25), (Int.min, 0), (-1, 0)])
  func pagesFarOutAreEmptyOrTheFirst(page: Int, given: Int) throws {
    let body = try Self.search(try NonprofitOrigin(organizations: 60).server, "?page=\(page)")
    #expect((body["organizations"] as? [Any])?.count == (page < 0 ? 25 : 0))
    #expect(body["cur_page"] as? Int == given && body["page_offset"] as? Int == given * 25)
  }

  @Test func organisationsLackWhatTheyMayLack() throws {
    let origin = try NonprofitOrigin(organizations: 25)
    let all = try #require(try Self.search(origin.server, "")["organizations"] as? [[String: Any]])
    #expect(all.contains { $0["city"] is NSNull } && all.contains { $0["state"] is NSNull })
    #expect(Set(all.compactMap { $0["state"] as? String }) == ["OR", "Oregon", "ZZ", "TX"])
    #expect(all.contains { $0["sub_name"] == nil })
  }

  @Test func noOrganisationIsAnAnswerWithTheStatus404() throws {
    let origin = try NonprofitOrigin(organizations: 0)
    let answer = try RawClient.answer(of: origin.server, to: "GET \(NonprofitOrigin.path) HTTP/1.1")
    #expect(answer.hasPrefix("HTTP/1.1 404 Not Found\r\n") && answer.contains("\"total_results\":0"))
  }

  @Test func aWeakTagIsConfirmed() throws {
    let origin = try NonprofitOrigin()
    let request = "GET \(NonprofitOrigin.path)?page=1 HTTP/1.1"
    let answer = try RawClient.answer(of: origin.server, to: request)
    let tag = try #require(answer.firstMatch(of: /ETag: (W\/"[0-9a-f]+")\r\n/)?.1)
    let second = try RawClient.answer(of: origin.server, to: request, "If-None-Match: \(tag)")
    #expect(second.hasPrefix("HTTP/1.1 304 ") && second.contains("max-age=86400") && second.contains("Vary: Accept,"))
  }

  @Test(arguments: [
    ("/3/search/movie?query=x&api_key=KEY", "X: y", 200),
    ("/3/search/movie?query=x", "Authorization: Bearer TOKEN", 200),
    ("/3/search/movie?query=x", "Authorization: Bearer KEY", 401), ("/3/search/movie?query=x&api_key=no", "X: y", 401),
    ("/3/search/movie?query=x&api_key=KEY&page=501", "X: y", 400), ("/3/search/movie?api_key=KEY", "X: y", 422),
    ("/t/p/w185/a.png", "X: y", 200), ("/t/p/w185/../a.png", "X: y", 404), ("/3/other", "X: y", 404),
  ])
  func theMovieDatabaseWantsAKeyForTheSearchOnly(target: String, field: String, status: Int) throws {
    let origin = try MovieDatabaseOrigin(key: "KEY", token: "TOKEN")
    let answer = try RawClient.answer(of: origin.server, to: "GET \(target) HTTP/1.1", field)
    #expect(answer.hasPrefix("HTTP/1.1 \(status) "))
  }

  @Test(arguments: [
    (MovieDatabaseOrigin.FailureForm.complete, 400, ["status_code", "status_message", "success"]),
    (.withoutSuccess, 400, ["status_code", "status_message"]), (.former, 422, ["errors"]),
  ])
  func theMovieDatabaseTellsOfPagesOutOfRange(
    form: MovieDatabaseOrigin.FailureForm, status: Int, members: [String]
  ) throws {
    let origin = try MovieDatabaseOrigin(key: "KEY", token: "TOKEN", lastPage: 2, failures: form)
    let target = "\(MovieDatabaseOrigin.path)?query=x&api_key=KEY&page="
    #expect(try RawClient.answer(of: origin.server, to: "GET \(target)2 HTTP/1.1").hasPrefix("HTTP/1.1 200 "))
    let answer = try RawClient.answer(of: origin.server, to: "GET \(target)3 HTTP/1.1")
    #expect(answer.hasPrefix("HTTP/1.1 \(status) "))
    #expect(try Self.document(answer).keys.sorted() == members)
  }

  @Test func moviesLackWhatTheyMayLack() throws {
    let origin = try MovieDatabaseOrigin(key: "KEY", token: "TOKEN", movies: 45)
    let target = "/3/search/movie?query=star+wars&page=3&api_key=KEY"
    let body = try Self.document(try RawClient.answer(of: origin.server, to: "GET \(target) HTTP/1.1"))
    let movies = try #require(body["results"] as? [[String: Any]])
    #expect(movies.count == 5 && body["total_pages"] as? Int == 3 && body["total_results"] as? Int == 45)
    #expect(movies.contains { $0["poster_path"] is NSNull } && movies.contains { $0["release_date"] as? String == "" })
  }

  @Test(arguments: ["2", nil])
  func theMovieDatabaseLimitsTheRate(retryAfter: String?) throws {
    let origin = try MovieDatabaseOrigin(key: "KEY", token: "TOKEN")
    origin.server.override(MovieDatabaseOrigin.rateLimited(retryAfter: retryAfter))
    let answer = try RawClient.answer(of: origin.server)
    #expect(answer.hasPrefix("HTTP/1.1 429 ") && answer.contains("\"status_code\": 25"))
    #expect(answer.contains("Retry-After: ") == (retryAfter != nil))
  }
}
