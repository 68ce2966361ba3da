public import FetchVocabulary

/// What a service is asked with: a name to know it by, a secret value, and an end.
public struct ServiceToken: Sendable, Hashable {
  /// The longest name, in characters.
  public static let maximumNameLength = 128

  /// What the token is called; each name is there once.
  public let name: String
  /// The secret.
  public let value: TokenValue
  /// From when on the token is of no use, since 1970-01-01T00:00:00Z; `nil` where it has no end.
  public let expiresAt: Duration?

  /// A token with the given fields.
  ///
  /// - Throws: `CacheError` with the code `invalidRequest` where the name is empty, too long, or holds white space or
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
