public import FetchVocabulary

/// An origin that is an HTTP server. An implementation only says what to ask and how to read the answers.
public protocol HTTPOrigin: ResponseOrigin {
  /// The server.
  var server: OriginServer { get }

  /// The resource to request for `request`.
  ///
  /// - Throws: `CacheError` with the code `invalidRequest` if the server cannot answer such a request.
  func endpoint(for request: Request) throws(CacheError) -> Endpoint

  /// Whether `response` is an answer, rather than a failure reported by its status. By default every status from 200 to
  /// 299 is an answer, except 206, because no part was requested.
  func isAnswer(_ response: HTTPResponse) -> Bool

  /// Decodes `response`, for which `isAnswer` returned `true`.
  ///
  /// - Throws: `CacheError` with the code `invalidAnswer` if the response is incomplete or invalid.
  func decode(_ response: HTTPResponse, for request: Request) throws(CacheError) -> Response
}

extension HTTPOrigin {
  /// Whether the status of `response` means success.
  public func isAnswer(_ response: HTTPResponse) -> Bool {
    response.head.isSuccess
  }

  /// The request as the caching rules examine it: without a key in its URL, and without conditions.
  ///
  /// - Throws: `CacheError` with the code `invalidRequest` if the server cannot answer such a request.
  public func message(for request: Request) throws(CacheError) -> HTTPRequest {
    server.message(for: try endpoint(for: request))
  }

  /// The request as it is sent without conditions, including its credentials.
  ///
  /// - Throws: `CacheError` with the code `invalidRequest` if the server cannot answer such a request.
  public func httpRequest(for request: Request) throws(CacheError) -> HTTPRequest {
    server.httpRequest(for: try endpoint(for: request))
  }

  /// Asks the server, with `conditions` added to the request.
  ///
  /// - Throws: `CacheError`: `originUnreachable`, also for the statuses 408, 425, 429 and 5xx; `originRefused`;
  ///   `notFound`; `invalidAnswer`, also for a 304 without a condition; `invalidRequest`; `cancelled`.
  public func answer(
    to request: Request, conditions: HTTPFields
  ) async throws(CacheError) -> OriginAnswer<Response> {
    let endpoint = try endpoint(for: request)
    if Task.isCancelled { throw .cancelled }
    let response = try await server.send(endpoint, conditions: conditions, origin: name)
    if response.head.status == 304 { return try confirmation(response.head, conditions) }
    guard isAnswer(response) else {
      throw StatusErrorResolver(origin: name, secrets: server.secrets).error(for: response, to: endpoint)
    }
    return OriginAnswer(head: response.head, response: try decode(response, for: request))
  }

  private func confirmation(
    _ head: HTTPResponseHead, _ conditions: HTTPFields
  ) throws(CacheError) -> OriginAnswer<Response> {
    guard ["if-none-match", "if-modified-since"].contains(where: conditions.contains) else {
      throw CacheError(
        .invalidAnswer, "\(name) confirmed a stored response (304), and the request did not name one",
        hint: "try again later: the server is at fault")
    }
    return OriginAnswer(head: head, response: nil)
  }
}

extension HTTPResponseHead {
  /// Whether the status means success, with the whole content.
  package var isSuccess: Bool { (200...299).contains(status) && status != 206 }
}
