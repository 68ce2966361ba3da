internal import Base
internal import CacheDomain

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
