/// What was found in the part of a store that can be reached now.
///
/// An engine that spreads its entries over several servers may lose one of them. Reads and writes of what the others have go
/// on without it, and so do the listings and counts that people ask for. Whatever must be complete uses `scan` and
/// `statistics`, which fail instead.
public struct Reachable<Content: Sendable>: Sendable {
  /// What was found.
  public let content: Content
  /// How much of the store cannot be reached, and where that is: one line without a final full stop, such as
  /// "STORE: 5461 of 16384 slots cannot be reached (10.0.0.1:7000)"; `nil` if `content` is complete.
  public let missing: String?

  /// What was found; it is complete if `missing` is `nil`.
  public init(_ content: Content, missing: String? = nil) {
    (self.content, self.missing) = (content, missing)
  }
}

extension StorageEngine {
  /// What `scan` returns: all of the store is in one place.
  public func scanReachable(
    _ range: KeyRange, limit: Int
  ) async throws(CacheError) -> Reachable<[EntrySummary]> { Reachable(try await scan(range, limit: limit)) }

  /// What `statistics` returns: all of the store is in one place.
  public func reachableStatistics() async throws(CacheError) -> Reachable<StorageStatistics> {
    Reachable(try await statistics())
  }
}
