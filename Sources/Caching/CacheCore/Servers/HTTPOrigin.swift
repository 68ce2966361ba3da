/// An origin that is an HTTP server. An implementation only says what to request and how to read the responses.
public protocol HTTPOrigin: ResponseOrigin {
  /// The server.
  var server: OriginServer { get }

  /// The resource to request for `request`.
  ///
  /// - Throws: `CacheError` with the code `invalidRequest` if the server cannot respond to such a request.
  func endpoint(for request: Request) throws(CacheError) -> Endpoint

  /// Whether `response` is a result, rather than a failure reported by its status. By default every status from 200 to
  /// 299 is a result, except 206, because no part was requested.
  func isAnswer(_ response: HTTP.Response) -> Bool

  /// Decodes `response`, for which `isAnswer` returned `true`.
  ///
  /// - Throws: `CacheError` with the code `invalidAnswer` if the response is incomplete or invalid.
  func decode(_ response: HTTP.Response, for request: Request) throws(CacheError) -> Response
}

extension HTTPOrigin {
  /// Whether the status of `response` means success.
  public func isAnswer(_ response: HTTP.Response) -> Bool { response.head.isSuccess }

  /// The request as the caching rules examine it: without a key in its URL, and without conditions.
  ///
  /// - Throws: `CacheError` with the code `invalidRequest` if the server cannot respond to such a request.
  public func message(for request: Request) throws(CacheError) -> HTTP.Request {
    server.message(for: try endpoint(for: request))
  }

  /// Sends the request to the server, with `conditions` added.
  ///
  /// - Throws: `CacheError`: `originUnreachable`, also for the statuses 408, 425, 429 and 5xx; `originRefused`;
  ///   `notFound`; `invalidAnswer`; `invalidRequest`; `cancelled`.
  public func answer(
    to request: Request, conditions: HTTP.Fields
  ) async throws(CacheError) -> OriginAnswer<Response> {
    let endpoint = try endpoint(for: request)
    if Task.isCancelled { throw .cancelled }
    let response = try await server.send(endpoint, conditions: conditions, origin: name)
    if response.head.status == 304 { return OriginAnswer(head: response.head, response: nil) }
    guard isAnswer(response) else { throw server.error(for: response, to: endpoint, origin: name) }
    return OriginAnswer(head: response.head, response: try decode(response, for: request))
  }
}

extension HTTP.ResponseHead {
  /// Whether the status means success, with the whole content.
  package var isSuccess: Bool { (200...299).contains(status) && status != 206 }
}

/// A failing status as an error: whose failure it is, and what to do about it.
extension OriginServer {
  /// The error for `response` to the request for `endpoint`.
  func error(for response: HTTP.Response, to endpoint: Endpoint, origin: String) -> CacheError {
    let head = response.head
    let subject = endpoint.subject
    if head.status == 407 { return .refusedByProxy(origin) }
    let (code, failure, hint): (CacheError.Code, String, String) =
      switch head.status {
      case 401, 403, 451:
        (
          .originRefused, "refused \(subject)",
          secrets.isEmpty
            ? "give this origin a key or token in the configuration"
            : "check the key, token or headers that the configuration gives this origin"
        )
      case 404, 410: (.notFound, "has no \(subject)", "check the request")
      case 400, 414, 422: (.invalidRequest, "rejected \(subject)", "check the request")
      case 429: (.originUnreachable, "allows no more requests for now", Self.retry(head))
      case 408, 425, 500...599: (.originUnreachable, "failed to serve \(subject)", Self.retry(head))
      case 300...399:
        (
          .invalidAnswer, "redirects \(subject) elsewhere",
          "set the base URL of this origin to its new address\(newServer(head, endpoint))"
        )
      default:
        (
          .invalidAnswer, "responded for \(subject) with a status that means nothing here",
          "check the base URL of this origin"
        )
      }
    let message = ServerMessage.text(in: response).flatMap { secrets.occur(in: $0) ? nil : ServerMessage.line($0) }
    let reason = message.map { ": \($0)" } ?? ""
    return CacheError(code, "\(origin) \(failure) (\(head.status))\(reason)", hint: hint)
  }

  private static func retry(_ head: HTTP.ResponseHead) -> String {
    guard let delay = RetryAfter.delay(head), delay > .zero else { return "try again later" }
    let seconds = delay.components.seconds
    return "try again in \(seconds) \(seconds == 1 ? "second" : "seconds")"
  }

  /// The server of the new address, after a space. The rest of the address might repeat a secret.
  private func newServer(_ head: HTTP.ResponseHead, _ endpoint: Endpoint) -> String {
    let target = head.fields["location"].flatMap { URLReference.resolve($0, against: endpoint.request.url) }
    let server = target.flatMap { URLReference($0)?.server }.map { " \($0)" } ?? ""
    return secrets.occur(in: server) ? "" : server
  }
}
