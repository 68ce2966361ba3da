import Foundation

/// A server in the shape of The Movie Database, with its quirks and with movies that are made up: the search, which
/// needs a key, and the images, which need none.
///
/// The key is taken as the parameter `api_key`, the token as a bearer token. Let `server` override or enqueue
/// responses, such as `rateLimited`, to make it fail.
public final class MovieDatabaseOrigin: Sendable {
  /// The path of the search.
  public static var path: String { "/3/search/movie" }

  /// The server. It records its requests.
  public let server: TestServer

  /// How it tells of a failure.
  public enum FailureForm: Sendable, CaseIterable {
    /// By a code, a message, and that there was no success.
    case complete
    /// By a code and a message: `success` is optional.
    case withoutSuccess
    /// The former behavior for a page out of range: HTTP status 422 and a list of messages.
    case former
  }

  /// Starts a server that takes `key` and `token`, and finds `movies` movies for every search, but none for "nothing".
  ///
  /// - Parameters:
  ///   - lastPage: the last page that may be requested. With a low number, clients that know the true one get the
  ///     failure.
  ///   - failures: the form of its failures.
  ///   - fields: header fields that replace the default ones.
  /// - Throws: `SystemFailure`.
  public init(
    key: String, token: String, movies: Int = 45, lastPage: Int = 500, failures: FailureForm = .complete,
    fields: TestFields = [:]
  ) throws {
    server = try TestServer { request in
      if request.path.hasPrefix("/t/p/w") { return PosterImage.response(to: request).validated(for: request) }
      guard request.path == Self.path else { return failures.error(404, 34, "The resource could not be found.") }
      guard request.query["api_key"] == key || request.fields["Authorization"] == "Bearer \(token)" else {
        return failures.error(401, 7, "Invalid API key: You must be granted a valid key.")
      }
      guard let query = request.query["query"], !query.isEmpty else { return failures.error(422, 5, "No query.") }
      let number = Int(request.query["page"] ?? "1") ?? 0
      guard number >= 1, number <= lastPage else { return failures.pageError(lastPage) }
      let page = MoviePage(number: number, total: query == "nothing" ? 0 : movies, query: query)
      return page.response(to: request).with(fields).validated(for: request)
    }
  }

  /// The URL of the server.
  public var url: String { server.url }

  /// The response to a client that makes too many requests.
  public static func rateLimited(retryAfter: String?) -> TestResponse {
    .tooManyRequests(
      retryAfter: retryAfter, FailureForm.complete.text(25, "Your request count is over the allowed limit."))
  }
}

extension MovieDatabaseOrigin.FailureForm {
  /// A failure: `code` is the service's own number of its kind.
  fileprivate func error(_ status: Int, _ code: Int, _ message: String) -> TestResponse {
    .json(text(code, message), status: status)
  }

  /// The response to a page out of range.
  fileprivate func pageError(_ last: Int) -> TestResponse {
    self == .former
      ? .json(#"{"errors": ["page must be less than or equal to \#(last)"]}"#, status: 422)
      : error(400, 22, "Invalid page: Pages start at 1 and max at \(last).")
  }

  fileprivate func text(_ code: Int, _ message: String) -> String {
    let success = self == .withoutSuccess ? "" : #", "success": false"#
    return #"{"status_code": \#(code), "status_message": "\#(message)"\#(success)}"#
  }
}

/// One page of movies.
private struct MoviePage {
  private static let size = 20

  let number: Int
  let total: Int
  let query: String

  func response(to request: TestRequest) -> TestResponse {
    let text = (try? JSONSerialization.data(withJSONObject: document, options: [.sortedKeys])) ?? Data()
    let response = TestResponse.json(
      String(decoding: text, as: UTF8.self),
      fields: ["Cache-Control": "public, max-age=21600", "ETag": WeakTag.text(text), "Vary": "Accept-Encoding"])
    return request.acceptsGzip ? response.gzipped() : response
  }

  private var document: [String: Any] {
    let first = min((number - 1) * Self.size, total)
    return [
      "page": number, "results": (first..<min(first + Self.size, total)).map(movie),
      "total_pages": (total + Self.size - 1) / Self.size, "total_results": total,
    ]
  }

  /// A movie. In turn they lack a release date, a poster or genres.
  private func movie(_ index: Int) -> [String: Any] {
    [
      "id": 500 + index, "title": "\(query) \(index)", "original_title": "\(query) \(index)",
      "original_language": "en", "overview": index % 4 == 3 ? "" : "What happens in no. \(index).",
      "release_date": index % 3 == 1 ? "" : "1999-03-\(10 + index % 20)",
      "poster_path": index % 3 == 2 ? NSNull() : "/poster\(index).png", "backdrop_path": NSNull(),
      "genre_ids": index % 5 == 4 ? [] : [28, 878], "adult": false, "video": false, "popularity": 61.5,
      "vote_average": 8.2, "vote_count": index,
    ]
  }
}

/// The images: each is the signature of a PNG file and its own path, which is enough to tell them apart.
private enum PosterImage {
  static func response(to request: TestRequest) -> TestResponse {
    guard request.path.wholeMatch(of: /\/t\/p\/w\d+\/[\w-]+\.png/) != nil else { return .html(404) }
    let bytes = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + Array(request.path.utf8)
    return TestResponse(
      fields: [
        "Content-Type": "image/png", "Cache-Control": "public, max-age=31536000", "ETag": WeakTag.text(Data(bytes)),
      ], body: .bytes(bytes))
  }
}
