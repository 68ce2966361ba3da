internal import ResponseStorage

extension StoreLimits {
  /// The configured limits.
  init(_ cache: Configuration.Cache) {
    self.init(maxEntries: cache.maxEntries, maxBytes: cache.maxBytes, eviction: cache.eviction)
  }
}
