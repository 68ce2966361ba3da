import CacheData
import CacheDomain
import Synchronization

@testable import CacheCore

/// A transfer with an answer for every URL, usually the same one, which records its requests.
final class FakeTransfer: DataTransferService {
  private let result: Result<HTTPResponse, CacheError>
  private let others: [String: HTTPResponse]
  private let asked = Mutex<[HTTPRequest]>([])

  init(_ status: Int = 200, _ fields: HTTPFields = [:], _ body: String = "") {
    others = [:]
    result = .success(HTTPResponse(HTTPResponseHead(status: status, fields: fields), body: Array(body.utf8)))
  }

  init(_ response: HTTPResponse, but others: [String: HTTPResponse] = [:]) {
    result = .success(response)
    self.others = others
  }

  init(failing error: CacheError) {
    others = [:]
    result = .failure(error)
  }

  /// A transfer that answers with the JSON `body`.
  static func json(_ body: String, status: Int = 200) -> FakeTransfer {
    FakeTransfer(status, ["Content-Type": "application/json; charset=utf-8"], body)
  }

  /// The requests so far, in order.
  var requests: [HTTPRequest] { asked.withLock { $0 } }

  func transfer(_ request: HTTPRequest) async throws(CacheError) -> HTTPResponse {
    asked.withLock { $0.append(request) }
    if let other = others[request.url] { return other }
    return try result.get()
  }
}

/// A server at `url` that answers with `transfer`.
func server(
  _ url: String, _ transfer: FakeTransfer = FakeTransfer(), credentials: OriginCredentials = .none,
  fields: HTTPFields = [:], secretFields: HTTPFields = [:]
) throws -> OriginServer {
  OriginServer(
    try BaseURL(url), fields: fields, secretFields: secretFields, credentials: credentials, transfer: transfer)
}

extension HTTPOrigin {
  /// The request as it is sent without conditions, including its credentials.
  func httpRequest(for request: Request) throws(CacheError) -> HTTPRequest {
    server.httpRequest(for: try endpoint(for: request))
  }
}

/// The error of `body`; `nil` if it succeeds.
func failure(_ body: () async throws(CacheError) -> Void) async -> CacheError? {
  do throws(CacheError) {
    try await body()
    return nil
  } catch {
    return error
  }
}

/// Requests to the origins of each kind.
enum Asked {
  static let cities = CitiesQuery()

  static func cities(_ query: CitiesQuery = Asked.cities) -> CitiesRequestDTO {
    CitiesRequestDTO(origin: "o", query: query)
  }

  static func movies(_ text: String = "wire", page: Int = 1) throws -> MoviesRequestDTO {
    guard let query = MovieQuery(text) else { throw CacheError(.invalidRequest, "no query") }
    return MoviesRequestDTO(origin: "o", query: query, page: page)
  }

  static func poster(_ path: String = "/a.jpg", width: Int = 342) -> PosterRequestDTO {
    PosterRequestDTO(origin: "o", query: PosterQuery(path: path, width: width))
  }
}
