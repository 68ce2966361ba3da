internal import CacheDomain

/// Turns answers with a failing status into errors: whose failure it is, and what to do about it.
struct StatusErrorResolver {
  let origin: String
  let secrets: SecretTexts

  /// The error for `response` to the request for `endpoint`.
  func error(for response: HTTPResponse, to endpoint: Endpoint) -> CacheError {
    let status = response.head.status
    let subject = endpoint.subject
    switch status {
    case 407: return .refusedByProxy(origin)
    case 401, 403, 451:
      return error(
        .originRefused, "\(origin) refused \(subject)", response,
        hint: secrets.isEmpty
          ? "give this origin a key or token in the configuration"
          : "check the key, token or headers that the configuration gives this origin")
    case 404, 410:
      return error(.notFound, "\(origin) has no \(subject)", response, hint: "check what was asked for")
    case 400, 414, 422:
      return error(.invalidRequest, "\(origin) rejected \(subject)", response, hint: "check what was asked for")
    case 429:
      return error(
        .originUnreachable, "\(origin) allows no more requests for now", response, hint: retry(response.head))
    case 408, 425, 500...599:
      return error(
        .originUnreachable, "\(origin) failed to answer for \(subject)", response, hint: retry(response.head))
    case 300...399:
      return error(
        .invalidAnswer, "\(origin) redirects \(subject) elsewhere", response, hint: newAddress(response.head, endpoint))
    default:
      return error(
        .invalidAnswer, "\(origin) answered for \(subject) with a status that means nothing here", response,
        hint: "check the base URL of this origin")
    }
  }

  private func error(
    _ code: CacheError.Code, _ text: String, _ response: HTTPResponse, hint: String
  ) -> CacheError {
    let message = ServerMessage.text(in: response).flatMap { secrets.occur(in: $0) ? nil : ServerMessage.line($0) }
    let reason = message.map { ": \($0)" } ?? ""
    return CacheError(code, "\(text) (\(response.head.status))\(reason)", hint: hint)
  }

  private func retry(_ head: HTTPResponseHead) -> String {
    guard let delay = RetryAfter.delay(head), delay > .zero else { return "try again later" }
    let seconds = delay.components.seconds
    return "try again in \(seconds) \(seconds == 1 ? "second" : "seconds")"
  }

  /// Shows only the host of the new address: the rest may repeat a secret.
  private func newAddress(_ head: HTTPResponseHead, _ endpoint: Endpoint) -> String {
    let target = head.fields["location"].flatMap { URLReference.resolve($0, against: endpoint.url) }
    let server = target.flatMap { URLReference($0)?.server }.map { " \($0)" } ?? ""
    guard !secrets.occur(in: server) else { return "set the base URL of this origin to its new address" }
    return "set the base URL of this origin to its new address\(server)"
  }
}
