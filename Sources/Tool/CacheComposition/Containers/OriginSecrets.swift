internal import CacheData
internal import CacheDomain

/// What the configuration adds to each request of an origin, with secrets revealed where possible.
struct OriginSecrets: Sendable {
  /// The fields that may be shown.
  private(set) var plainFields: HTTPFields = [:]
  /// The fields that must not be shown.
  private(set) var secretFields: HTTPFields = [:]
  /// The key or token.
  private(set) var credentials = OriginCredentials.none
  /// Why a secret cannot be sent; `nil` if all can.
  private(set) var problem: CacheError?

  /// The fields for `headers`, and the credentials that `credentials` makes of `secret`.
  init(_ headers: [HeaderSetting], secret: Secret?, credentials makeCredentials: (String) -> OriginCredentials) {
    for header in headers {
      switch header.value {
      case .text(let text): plainFields.append(header.name, text)
      case .secret(let secret): if let value = reveal(secret) { secretFields.append(header.name, value) }
      }
    }
    if let value = secret.flatMap({ reveal($0) }) { credentials = makeCredentials(value) }
  }

  private mutating func reveal(_ secret: Secret) -> String? {
    do throws(ConfigurationError) {
      let value = try secret.reveal()
      if HTTPSyntax.isFieldValue(value) { return value }
      problem = CacheError(
        .originUnavailable, "the value of the environment variable \(secret.variable) has a control character",
        hint: "set \(secret.variable) to a value of one line")
    } catch {
      problem = CacheError(.originUnavailable, error.message, hint: error.hint)
    }
    return nil
  }
}
