import CacheData

/// One history: the seed that it is generated from, and what the cache is set to.
struct HistorySetting: Sendable, CustomStringConvertible {
  let seed: UInt64
  let isShared: Bool

  static let all = (1...12).flatMap { seed in
    [false, true].map { HistorySetting(seed: seed, isShared: $0) }
  }

  /// How long is fresh what says nothing about it.
  var timeToLive: Duration { seed.isMultiple(of: 2) ? .seconds(10) : .zero }
  /// How long a stale response stands in for an origin that fails.
  let staleIfError = Duration.seconds(30)

  var rules: HTTPCacheRules {
    HTTPCacheRules(
      isShared: isShared,
      freshness: FreshnessPolicy(timeToLive: timeToLive, staleIfError: staleIfError, staleWhileRevalidate: .zero))
  }

  var description: String { "seed \(seed), \(isShared ? "shared" : "private") cache" }
}
