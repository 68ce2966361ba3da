internal import Base
internal import FetchVocabulary

/// The credentials that a server wants. The secret in them is sent, but never shown.
public enum OriginCredentials: Sendable, Hashable {
  /// No credentials.
  case none
  /// A key in a query parameter.
  case queryParameter(name: String, value: String)
  /// A token in the `Authorization` field (RFC 6750, section 2.1).
  case bearerToken(String)

  /// The header fields that carry the credentials.
  var fields: HTTPFields {
    guard case .bearerToken(let token) = self else { return [:] }
    return ["Authorization": "Bearer \(token)"]
  }

  /// The query parameters that carry the credentials.
  var query: [Endpoint.Parameter] {
    guard case .queryParameter(let name, let value) = self else { return [] }
    return [Endpoint.Parameter(name, value)]
  }

  /// The secret; `nil` if there is none.
  var secret: String? {
    switch self {
    case .none: nil
    case .queryParameter(_, let value): value
    case .bearerToken(let token): token
    }
  }
}

extension OriginCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// How the credentials are sent, without the secret.
  public var description: String {
    switch self {
    case .none: "no credentials"
    case .queryParameter(let name, _): "a key in the parameter \(name)"
    case .bearerToken: "a bearer token"
    }
  }

  /// The same as `description`.
  public var debugDescription: String { description }

  /// Hides the secret.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The secrets sent to a server, to make sure that no text passed on contains one.
struct SecretTexts: Sendable {
  /// Each secret in lower case, both as it is and percent-encoded.
  private let texts: Set<String>

  /// Collects secrets. In a field such as `Bearer TOKEN`, the token alone is a secret too.
  init(_ secrets: [String]) {
    let parts = secrets.flatMap { [$0] + $0.split(separator: " ").dropFirst().map(String.init) }
    texts = Set(
      parts.flatMap { [$0, PercentEncoding.text($0)] }.filter { !$0.isEmpty }.map { $0.lowercased() })
  }

  /// Whether there are no secrets.
  var isEmpty: Bool { texts.isEmpty }

  /// Whether `text` contains a secret.
  func occur(in text: String) -> Bool {
    let text = text.lowercased()
    return texts.contains { text.holds($0) }
  }

  /// `error`, or what may be said of it if its texts or its cause contain a secret.
  func withheld(from error: CacheError, origin: String) -> CacheError {
    let cause = error.cause.map { String(reflecting: $0) } ?? ""
    guard occur(in: "\(error.message)\n\(error.hint)\n\(cause)") else { return error }
    if !occur(in: "\(error.message)\n\(error.hint)") { return CacheError(error.code, error.message, hint: error.hint) }
    return CacheError(
      error.code, "the request to \(origin) failed", hint: "the reason is not shown, because it holds a secret")
  }
}
