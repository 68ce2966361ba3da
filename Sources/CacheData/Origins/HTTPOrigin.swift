public import CacheDomain

/// An origin that is a server: it says what to ask it and how to read its answers, everything else follows.
public protocol HTTPOrigin: ResponseOrigin {
  /// The server.
  var server: OriginServer { get }

  /// What the server is asked for `request`.
  ///
  /// - Throws: `CacheError` with the code `invalidRequest` for what the server need not be asked, because it cannot be.
  func endpoint(for request: Request) throws(CacheError) -> Endpoint

  /// Whether `response` is an answer, and no failure that its status tells of. By default every status from 200 to 299
  /// is one but 206, because no part was asked for.
  func isAnswer(_ response: HTTPResponse) -> Bool

  /// The answer in `response`, for which `isAnswer` holds.
  ///
  /// - Throws: `CacheError` with the code `invalidAnswer` where it is not whole and valid.
  func decode(_ response: HTTPResponse, for request: Request) throws(CacheError) -> Response
}

extension HTTPOrigin {
  /// Whether the status of `response` is one of success.
  public func isAnswer(_ response: HTTPResponse) -> Bool {
    response.head.isSuccess
  }

  /// The request as the rules of caching see it, without a key in its URL and without conditions.
  ///
  /// - Throws: `CacheError` with the code `invalidRequest` for a request that the server cannot be asked.
  public func message(for request: Request) throws(CacheError) -> HTTPRequest {
    server.message(for: try endpoint(for: request))
  }

  /// The request as it is sent when there are no conditions, with the credentials in it.
  ///
  /// - Throws: `CacheError` with the code `invalidRequest` for a request that the server cannot be asked.
  public func httpRequest(for request: Request) throws(CacheError) -> HTTPRequest {
    server.httpRequest(for: try endpoint(for: request))
  }

  /// Asks the server, with the fields `conditions` added to the request.
  ///
  /// - Throws: `CacheError`: `originUnreachable` also for the statuses 408, 425, 429 and 5xx, `originRefused`,
  ///   `notFound`, `invalidAnswer` also for a 304 that no condition asked for, `invalidRequest`, `cancelled`.
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
        .invalidAnswer, "\(name) confirmed an answer that it was not asked about (304)", hint: "try again later")
    }
    return OriginAnswer(head: head, response: nil)
  }
}

extension HTTPResponseHead {
  /// Whether the status tells of success with a whole answer.
  var isSuccess: Bool { (200...299).contains(status) && status != 206 }
}
