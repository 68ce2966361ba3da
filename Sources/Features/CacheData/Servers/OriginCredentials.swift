internal import Base

/// The credentials that a server wants. The secret in them is sent, but never shown.
public enum OriginCredentials: Sendable, Hashable {
  /// No credentials.
  case none
  /// A key in a query parameter.
  case queryParameter(name: String, value: String)
  /// A token in the `Authorization` field (RFC 6750, section 2.1).
  case bearerToken(String)

  /// The credentials for TMDB. An access token (version 4, a JSON Web Token as in RFC 7519) is sent as a bearer token;
  /// anything else is an API key (version 3) and becomes a parameter. Surrounding white space is dropped.
  public static func tmdb(_ text: String) -> OriginCredentials {
    let key = String(text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    guard !key.isEmpty else { return .none }
    return isWebToken(key) ? .bearerToken(key) : .queryParameter(name: "api_key", value: key)
  }

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

  /// Whether `key` has three parts separated by full stops, and begins like a JSON object in base64.
  private static func isWebToken(_ key: String) -> Bool {
    let parts = key.split(separator: ".", omittingEmptySubsequences: false)
    return key.hasPrefix("eyJ") && parts.count == 3
      && key.utf8.allSatisfy { PercentEncoding.isUnreserved($0) || $0 == UInt8(ascii: "=") }
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
