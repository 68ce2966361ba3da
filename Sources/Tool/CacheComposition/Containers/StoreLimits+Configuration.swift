internal import ResponseStorage

extension StoreLimits {
  /// The configured limits.
  init(_ cache: Configuration.Cache) {
    self.init(maxEntries: cache.maxEntries, maxBytes: cache.maxBytes, eviction: EvictionPolicy(cache.eviction))
  }
}

extension EvictionPolicy {
  fileprivate init(_ eviction: Configuration.Eviction) {
    switch eviction {
    case .leastRecentlyUsed: self = .leastRecentlyUsed
    case .leastFrequentlyUsed: self = .leastFrequentlyUsed
    case .leastRecentlyStored: self = .leastRecentlyStored
    case .none: self = .none
    }
  }
}
