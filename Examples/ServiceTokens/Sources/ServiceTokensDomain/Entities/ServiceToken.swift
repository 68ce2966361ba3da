public import FetchVocabulary

/// The credentials for a service: a name, a secret value, and an end.
public struct ServiceToken: Sendable, Hashable {
  /// The longest name, in characters.
  public static let maximumNameLength = 128

  /// The unique name of the token.
  public let name: String
  /// The secret.
  public let value: TokenValue
  /// The end of the token's validity, since 1970-01-01T00:00:00Z; `nil` if it has none.
  public let expiresAt: Duration?

  /// A token with the given fields.
  ///
  /// - Throws: `CacheError` with the code `invalidRequest` if the name is empty, too long, or contains white space or
  ///   control characters.
  public init(name: String, value: TokenValue, expiresAt: Duration? = nil) throws(CacheError) {
    guard (1...Self.maximumNameLength).contains(name.count), name.unicodeScalars.allSatisfy(\.isVisible) else {
      throw CacheError(
        .invalidRequest, "the name of a token is one word of at most \(Self.maximumNameLength) characters",
        hint: "give it without white space")
    }
    self.name = name
    self.value = value
    self.expiresAt = expiresAt
  }
}

extension CacheError.Code {
  /// There is a token of that name already.
  public static let tokenExists = CacheError.Code(rawValue: "tokenExists")
}
