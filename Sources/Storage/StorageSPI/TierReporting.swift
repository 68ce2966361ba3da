/// An engine that is made of several, one in front of the other.
public protocol TierReporting: StorageEngine {
  /// What each tier holds, and how it has served, the nearest first. Cost: that of `statistics()` of each tier.
  func tiers() async -> [TierReport]

  /// Where the entry under `key` is, in a few words. It changes nothing. Cost: a read of the nearest tier.
  func tier(of key: CacheKey) async -> String

  /// What users should know of the tiers now, such as that one of them is away; `nil` if all is well. Cost: a lock.
  var tierWarning: CacheError? { get }
}

extension TierReporting {
  /// This engine.
  public var tierReporter: (any TierReporting)? { self }
}

/// What one tier of an engine holds, and how it has served.
public struct TierReport: Sendable {
  /// The tier: "near" or "far".
  public let name: String
  /// How many reads it has answered with an entry since the store was opened.
  public let hits: Int
  /// Why it cannot be used, or what it has lost; `nil` if all is well.
  public var failure: CacheError?
  /// How much it holds; `nil` if that cannot be told.
  public var statistics: StorageStatistics?
  /// The number of writes that it keeps for the next tier.
  public var pendingWrites = 0

  /// A report without statistics.
  public init(name: String, hits: Int, failure: CacheError? = nil) {
    (self.name, self.hits, self.failure) = (name, hits, failure)
  }
}
