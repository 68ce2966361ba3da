internal import CacheDomain

extension CacheError {
  /// The error of the origin called `origin`, which answered with `what`.
  static func invalidAnswer(_ origin: String, _ what: String) -> CacheError {
    CacheError(
      .invalidAnswer, "\(origin) sent \(what)", hint: "check the base URL of this origin, or try again later")
  }
}
