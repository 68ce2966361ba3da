import CacheData
import CacheDomain
import FetchVocabulary
import Testing

struct TMDBPosterOriginTests {
  private func answer(_ transfer: FakeTransfer) async throws -> Poster? {
    let origin = TMDBPosterOrigin(try server("https://a.example", transfer))
    return try await origin.answer(to: Asked.poster(), conditions: [:]).response
  }

  @Test(arguments: [
    ("image/jpeg", "image/jpeg"), ("IMAGE/PNG", "image/png"), ("image/webp; q=1", "image/webp"),
    (" image/svg+xml ;charset=utf-8", "image/svg+xml"),
  ])
  func anImageIsTakenAsItIs(type: String, expected: String) async throws {
    let bytes = Array(UInt8.min...UInt8.max)
    let response = HTTPResponse(HTTPResponseHead(status: 200, fields: ["content-type": type]), body: bytes)
    #expect(try await answer(FakeTransfer(response)) == Poster(bytes: bytes, contentType: expected))
  }

  @Test(
    arguments: [
      ("image/jpeg", "", "an empty answer for an image"),
      ("text/html; charset=utf-8", "<p>Hello", "a page of HTML instead of an image"),
      ("image/jpeg", "\n<!DOCTYPE html><html></html>", "a page of HTML instead of an image"),
      ("application/json", "{}", "something else than an image for a poster"),
      (nil, "\u{89}PNG", "something else than an image for a poster"),
      ("image/", "x", "something else than an image for a poster"),
      ("text/plain, image/png", "x", "something else than an image for a poster"),
    ] as [(String?, String, String)])
  func anythingElseIsNoImage(type: String?, body: String, reason: String) async throws {
    let fields = HTTPFields(type.map { [HTTPFields.Field("Content-Type", $0)] } ?? [])
    let error = await #expect(throws: CacheError.self) { _ = try await answer(FakeTransfer(200, fields, body)) }
    #expect(error?.code == .invalidAnswer)
    #expect(error?.message == "tmdb@a.example sent \(reason)")
  }

  @Test(arguments: [(404, CacheError.Code.notFound), (403, .originRefused), (503, .originUnreachable)])
  func aFailureNamesThePoster(status: Int, code: CacheError.Code) async throws {
    let transfer = FakeTransfer(status, ["Content-Type": "text/html"], "<h1>File not Found</h1>")
    let error = await #expect(throws: CacheError.self) { _ = try await answer(transfer) }
    #expect(error?.code == code)
    #expect(error?.message.contains("poster '/a.jpg' (\(status))") == true)
  }
}
