internal import Base
internal import CacheDomain

/// The secrets that are sent to a server, known so that no text which holds one is passed on.
struct SecretTexts: Sendable {
  /// Each secret in lower case, as it is and as it stands in a URL.
  private let texts: Set<String>

  /// The given secrets; of a field such as `Bearer TOKEN` the token is one as well.
  init(_ secrets: [String]) {
    let parts = secrets.flatMap { [$0] + $0.split(separator: " ").dropFirst().map(String.init) }
    texts = Set(
      parts.flatMap { [$0, PercentEncoding.queryPart($0)] }.filter { !$0.isEmpty }.map { $0.lowercased() })
  }

  /// Whether there are none.
  var isEmpty: Bool { texts.isEmpty }

  /// Whether a secret stands in `text`.
  func occur(in text: String) -> Bool {
    let text = text.lowercased()
    return texts.contains { text.holds($0) }
  }

  /// `error` itself, or what may be said of it where one of its texts, or its cause, holds a secret.
  func withheld(from error: CacheError, origin: String) -> CacheError {
    let cause = error.cause.map { String(reflecting: $0) } ?? ""
    guard occur(in: "\(error.message)\n\(error.hint)\n\(cause)") else { return error }
    if !occur(in: "\(error.message)\n\(error.hint)") { return CacheError(error.code, error.message, hint: error.hint) }
    return CacheError(
      error.code, "the request to \(origin) failed", hint: "the reason is not shown, because it holds a secret")
  }
}
