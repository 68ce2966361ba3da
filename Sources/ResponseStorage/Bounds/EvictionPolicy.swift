/// Which entries go first where a store has no room for a new one. Expired ones go before all others, whatever the
/// policy; between two that a policy does not tell apart, the one whose key comes first goes.
public enum EvictionPolicy: String, Sendable, CaseIterable {
  /// Those whose last use is the longest ago, then those that were stored the longest ago. An entry counts as used when
  /// it is stored.
  case leastRecentlyUsed = "least-recently-used"
  /// Those that were read the fewest times, then as with `leastRecentlyUsed`.
  case leastFrequentlyUsed = "least-frequently-used"
  /// Those that were stored the longest ago.
  case leastRecentlyStored = "least-recently-stored"
  /// None but expired ones: where they do not make room enough, the new entry is refused.
  case none

  /// Whether the order depends on how entries were used.
  var dependsOnUse: Bool { self == .leastRecentlyUsed || self == .leastFrequentlyUsed }
}
