internal import Base
internal import FetchVocabulary

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

/// Reads the messages that servers put into the body of a failure.
enum ServerMessage {
  private static let maximumLength = 200
  /// The largest body to search for a message.
  private static let maximumBytes = 1 << 16

  /// The message in the JSON object in the body of `response`; `nil` if there is none, as in an HTML page.
  ///
  /// Recognises the `detail` and `title` of RFC 9457, the `error_description` of RFC 6749, and `error`, `errors`,
  /// `message` and `status_message`, which many servers use.
  static func text(in response: HTTPResponse) -> String? {
    guard response.body.count <= maximumBytes else { return nil }
    return (try? JSONDocument(parsing: response.body, allowsRepeatedKeys: true)).flatMap { text($0.root.value) }
  }

  /// Makes `text` fit for one line: no control characters, no final full stop, and not too long. `nil` if nothing is
  /// left.
  static func line(_ text: String) -> String? {
    let words = text.split {
      $0.isWhitespace || $0.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }
    var line = words.joined(separator: " ")
    if line.count > maximumLength { line = line.prefix(maximumLength) + "…" }
    while let last = line.last, ". ".contains(last) { line.removeLast() }
    return line.isEmpty ? nil : line
  }

  private static let names = [
    "status_message", "errors", "detail", "error_description", "message", "error", "title",
  ]

  /// The first text in the members of the object `value` that may hold a message, or in objects among those members.
  private static func text(_ value: JSONDocument.Value) -> String? {
    guard case .object(let members) = value else { return nil }
    return names.lazy.compactMap { name in
      switch members.last(where: { $0.key == name })?.node.value {
      case .text(let text): text
      case .array(let nodes): texts(nodes)?.joined(separator: "; ")
      case .some(let value): text(value)
      case nil: nil
      }
    }.first { !$0.isEmpty }
  }

  private static func texts(_ nodes: [JSONDocument.Node]) -> [String]? {
    var texts: [String] = []
    for node in nodes {
      guard case .text(let text) = node.value else { return nil }
      texts.append(text)
    }
    return texts
  }
}

extension CacheError {
  /// The error for an origin called `origin` that sent `what` as its answer.
  package static func invalidAnswer(
    _ origin: String, _ what: String, hint: String = "check the base URL of this origin, or try again later"
  ) -> CacheError {
    CacheError(.invalidAnswer, "\(origin) sent \(what)", hint: hint)
  }
}
