/// What a server wants to see before it answers. The secret in it is sent and never shown.
public enum OriginCredentials: Sendable, Hashable {
  /// Nothing.
  case none
  /// A key in a parameter of the query.
  case queryParameter(name: String, value: String)
  /// A token in the field `Authorization` (RFC 6750, section 2.1).
  case bearerToken(String)

  /// The credentials for TMDB: an access token (version 4 of its authentication, a JSON Web Token as RFC 7519 has it)
  /// is sent as a bearer token, anything else is a key (version 3) and a parameter. White space around it is dropped.
  public static func tmdb(_ text: String) -> OriginCredentials {
    let key = String(text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    guard !key.isEmpty else { return .none }
    return isWebToken(key) ? .bearerToken(key) : .queryParameter(name: "api_key", value: key)
  }

  /// The header fields that carry them.
  var fields: HTTPFields {
    guard case .bearerToken(let token) = self else { return [:] }
    return ["Authorization": "Bearer \(token)"]
  }

  /// The parameters that carry them.
  var query: [Endpoint.Parameter] {
    guard case .queryParameter(let name, let value) = self else { return [] }
    return [Endpoint.Parameter(name, value)]
  }

  /// The secret; `nil` where there is none.
  var secret: String? {
    switch self {
    case .none: nil
    case .queryParameter(_, let value): value
    case .bearerToken(let token): token
    }
  }

  /// Three parts separated by full stops, the first of them the beginning of a JSON object in base64.
  private static func isWebToken(_ key: String) -> Bool {
    let parts = key.split(separator: ".", omittingEmptySubsequences: false)
    return key.hasPrefix("eyJ") && parts.count == 3
      && key.utf8.allSatisfy { PercentEncoding.unreserved.contains($0) || $0 == UInt8(ascii: "=") }
  }
}

extension OriginCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// How they are sent.
  public var description: String {
    switch self {
    case .none: "no credentials"
    case .queryParameter(let name, _): "a key in the parameter \(name)"
    case .bearerToken: "a bearer token"
    }
  }

  /// The same as `description`.
  public var debugDescription: String { description }

  /// Shows nothing more.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
