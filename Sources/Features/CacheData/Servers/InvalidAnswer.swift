internal import CacheDomain

extension CacheError {
  /// The error for an origin called `origin` that sent `what` as its answer.
  static func invalidAnswer(
    _ origin: String, _ what: String, hint: String = "check the base URL of this origin, or try again later"
  ) -> CacheError {
    CacheError(.invalidAnswer, "\(origin) sent \(what)", hint: hint)
  }
}
