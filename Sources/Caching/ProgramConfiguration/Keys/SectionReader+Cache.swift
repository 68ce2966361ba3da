internal import StorageSPI
package import HTTPCaching
package import ResponseStorage

/// The keys of the section `cache` that every program has.
extension SectionReader {
  /// Declares `timeToLive`, `staleIfError` and `staleWhileRevalidate`, with the defaults in `standard`.
  package mutating func freshness(default standard: FreshnessPolicy) -> FreshnessPolicy {
    FreshnessPolicy(
      timeToLive: duration(
        "timeToLive", default: standard.timeToLive, help: "how long an entry is fresh when its origin does not say"),
      staleIfError: duration(
        "staleIfError", default: standard.staleIfError,
        help: "how long a stale entry stands in for an origin that fails"),
      staleWhileRevalidate: duration(
        "staleWhileRevalidate", default: standard.staleWhileRevalidate,
        help: "how long a stale entry is served while the origin is asked again"))
  }

  /// Declares `maxEntries`.
  package mutating func maxEntries() -> Int {
    integer(
      "maxEntries", default: StoreLimits.standard.maxEntries, in: 1...1_000_000_000,
      help: "how many entries are kept at most")
  }

  /// Declares `maxBytes`.
  package mutating func maxBytes() -> Int {
    size(
      "maxBytes", default: StoreLimits.standard.maxBytes, in: 1_024...(1 << 50),
      help: "how many bytes of payload are kept at most")
  }

  /// Declares `eviction`.
  package mutating func eviction() -> EvictionPolicy {
    let policies = policies
    let policy = key(
      "eviction", .option(.choice(policies.map(\.name))), default: policies.first.map { .text($0.name) },
      help: "which entries go first when a limit is reached")
    return policies.first { $0.name == policy?.text } ?? policies.first ?? .leastRecentlyUsed
  }

  /// Declares `shared`.
  package mutating func isShared() -> Bool {
    boolean(
      "shared", default: false, help: "whether several users share the cache, as RFC 9111 means it")
  }
}
