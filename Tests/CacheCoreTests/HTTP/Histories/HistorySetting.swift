import CacheCore

/// One history: the seed that generates it, and the cache's settings.
struct HistorySetting: Sendable, CustomStringConvertible {
  let seed: UInt64
  let isShared: Bool

  static let all = (1...12).flatMap { seed in
    [false, true].map { HistorySetting(seed: seed, isShared: $0) }
  }

  /// How long responses without a lifetime are fresh.
  var timeToLive: Duration { seed.isMultiple(of: 2) ? .seconds(10) : .zero }
  /// How long a stale response may answer for a failing origin.
  let staleIfError = Duration.seconds(30)

  var rules: HTTPCacheRules {
    HTTPCacheRules(
      isShared: isShared,
      freshness: FreshnessPolicy(timeToLive: timeToLive, staleIfError: staleIfError, staleWhileRevalidate: .zero))
  }

  var description: String { "seed \(seed), \(isShared ? "shared" : "private") cache" }
}
