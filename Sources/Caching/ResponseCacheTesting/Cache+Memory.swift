internal import MemoryStorage
public import ResponseCache
public import StorageSPI

// Tests of expiry set the time.
@_exported public import class StorageConformance.ManualClock

extension Cache {
  /// An empty cache in memory, with the time of `clock`.
  ///
  ///     let clock = ManualClock()
  ///     let cache = try await Cache.inMemory(clock: clock)
  public static func inMemory(
    clock: any WallClock = ManualClock(), limits: StoreLimits? = .standard,
    warn: @escaping @Sendable (CacheError) -> Void = { _ in }
  ) async throws -> Cache {
    try await Cache(.memory, limits: limits, clock: clock, warn: warn)
  }
}

extension Timestamp {
  /// A time for the clocks of tests: 2026-01-01T00:00:00Z.
  public static let start = Timestamp(milliseconds: 1_767_225_600_000)
}

extension ManualClock {
  /// A clock that shows `Timestamp.start`.
  public convenience init() { self.init(.start) }
}
