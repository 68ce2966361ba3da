internal import FetchVocabulary

extension CacheError {
  /// The error if only the cache may answer for `name`, and it cannot.
  static func notCached(_ name: String, _ decision: CacheDecision) -> CacheError {
    let message =
      decision.forwardReason == .stale
      ? "\(name) may not be used: \(decision.reason)" : "\(name) is not in the cache"
    return CacheError(.notCached, message)
  }
}
