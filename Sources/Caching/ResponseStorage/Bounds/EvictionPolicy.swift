/// Which entries are evicted first if a store has no room for a new one. Under every policy expired entries go first; a
/// tie goes by the order of the keys.
public enum EvictionPolicy: String, Sendable, CaseIterable {
  /// The entry whose last use is longest ago goes first, then the one stored longest ago. Storing an entry counts as a
  /// use.
  case leastRecentlyUsed = "least-recently-used"
  /// The entry read the fewest times goes first; ties are broken as with `leastRecentlyUsed`.
  case leastFrequentlyUsed = "least-frequently-used"
  /// The entry stored longest ago goes first.
  case leastRecentlyStored = "least-recently-stored"
  /// Only expired entries go. If that does not make enough room, the new entry is refused.
  case none

  /// Whether the order depends on how entries are used.
  var dependsOnUse: Bool { self == .leastRecentlyUsed || self == .leastFrequentlyUsed }
}
