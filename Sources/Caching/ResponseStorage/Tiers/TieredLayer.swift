public import EngineSupport
internal import FetchVocabulary
public import StorageSPI

/// A layer that puts an engine on this machine, near, in front of one that several machines share, far.
///
/// Reads are answered by near where that is safe, and else by far; what far answers, near then holds too. Writes go to far,
/// which judges them, and then to near. Each tier has limits of its own: those of the cache are far's.
///
///     let location = StorageLocation(
///       TieredLayer(over: RedisPlugin(), near: LMDBPlugin(), folder: "/var/cache/app/near"),
///       ["url": .text("redis://cache.example.com")])
///
/// What others remove or replace in far is not served from near for longer than `nearMaxAge`. It takes only as long as a message where
/// far is `ChangeFollowing`, and no time at all where it is `ChangeCounting`. A process that has just started asks far
/// about each entry once.
///
/// **While far is away** (`unreachable` or `busy`), near answers with what it has, and writes are kept in the folder until far is
/// back, up to 10,000. A removal fails, because others would not learn of it. When far is back, a write is given up
/// if another machine has changed the entry in a way that the writer did not expect, or has stored it later.
///
/// **If near is damaged**, far answers, and near is made anew. What inspects or repairs a store does so with far's.
public struct TieredLayer: WrappingPlugin {
  /// The plugin of far.
  public let base: any StoragePlugin
  /// The plugin of near.
  public let near: any StoragePlugin
  /// The absolute path of the folder for near and for the writes that far did not take.
  public let folder: String
  /// How much near may hold, and what goes first.
  public let limits: StoreLimits
  /// How long near answers for an entry after far has confirmed it, if far does not say more.
  public let nearMaxAge: Duration
  let uptime: @Sendable () -> ContinuousClock.Instant

  /// The layer around `base`.
  public init(
    over base: any StoragePlugin, near: any StoragePlugin, folder: String, limits: StoreLimits = .standard,
    nearMaxAge: Duration = .seconds(60)
  ) {
    self.init(over: base, near: near, folder: folder, limits: limits, nearMaxAge: nearMaxAge, uptime: { .now })
  }

  /// The same, with a clock for `nearMaxAge`.
  init(
    over base: any StoragePlugin, near: any StoragePlugin, folder: String, limits: StoreLimits = .standard,
    nearMaxAge: Duration, uptime: @escaping @Sendable () -> ContinuousClock.Instant
  ) {
    (self.base, self.near, self.folder, self.limits) = (base, near, folder, limits)
    (self.nearMaxAge, self.uptime) = (nearMaxAge, uptime)
  }

  /// The declaration of `base`. It is not declared to be `shared`, since another handle sees a commit a little later, unless
  /// `nearMaxAge` is zero.
  public var declaration: EngineDeclaration {
    let inner = base.declaration
    return inner.with(nearMaxAge > .zero ? inner.capabilities.subtracting([.shared]) : inner.capabilities)
  }

  /// Opens both stores. Far may be away: then each call tries to open it.
  ///
  /// - Throws: `CacheError`: far's failure other than `unreachable`, or that of near: see `StoragePlugin.open(_:)`.
  public func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
    let tier = try await NearTier(near, try nearConfiguration("entries", configuration.clock), limits)
    do throws(CacheError) {
      let far = try await openFar(configuration)
      let pending = pendingWrites(to: far, configuration.clock)
      if try await hasPendingWrites(configuration.clock) { try await load(pending, configuration.clock) }
      return TieredEngine(near: tier, far: far, pending: pending, self, clock: configuration.clock)
    } catch {
      await tier.close()
      throw error
    }
  }

  private func openFar(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
    do throws(CacheError) {
      return try await base.open(configuration)
    } catch {
      guard error.isAway else { throw error }
      let evicts = base.declaration.capabilities.contains(.eviction)
      return AwaitedEngine(after: error, clock: configuration.clock, evicts: evicts) { () throws(CacheError) in
        try await base.open(configuration)
      }
    }
  }

  private func pendingWrites(to far: any StorageEngine, _ clock: any WallClock) -> PendingWrites {
    PendingWrites(to: far, clock: clock) { () throws(CacheError) in
      try await near.open(try nearConfiguration("pending", clock))
    }
  }

  /// Whether an earlier process may have kept writes.
  private func hasPendingWrites(_ clock: any WallClock) async throws(CacheError) -> Bool {
    guard near.declaration.capabilities.contains(.persistent) else { return false }
    do throws(CacheError) {
      return try await near.inspect(try nearConfiguration("pending", clock)).exists
    } catch {
      guard error.code == .unsupported else { throw error }
      return true
    }
  }

  /// Reads what an earlier process has kept. A store that cannot be read keeps no one from the cache.
  private func load(_ pending: PendingWrites, _ clock: any WallClock) async throws(CacheError) {
    do throws(CacheError) {
      try await pending.load()
    } catch {
      guard error.isDamage else { throw error }
      await pending.giveUp(error)
      try await near.removeStore(try nearConfiguration("pending", clock))
    }
  }

  /// What to open near's store called `store` with.
  private func nearConfiguration(_ store: String, _ clock: any WallClock) throws(CacheError) -> EngineConfiguration {
    var values: [String: OptionValue] = [:]
    for option in near.declaration.options where option.kind == .path {
      values[option.name] = .text("\(folder)/\(store)/\(option.name)")
    }
    return try EngineConfiguration(for: near.declaration, values: values, clock: clock)
  }

  /// Counts what near holds, and the writes that wait for far, without opening far or creating anything.
  ///
  /// - Throws: `CacheError`: near's failure.
  public func examineNear(clock: any WallClock) async throws(CacheError) -> NearExamination {
    guard near.declaration.capabilities.contains(.persistent) else { return NearExamination() }
    return NearExamination(
      entries: try await count("entries", clock), pendingWrites: try await count("pending", clock) ?? 0)
  }

  /// The number of entries in near's store called `store`; `nil` if there is no such store.
  private func count(_ store: String, _ clock: any WallClock) async throws(CacheError) -> Int? {
    let configuration = try nearConfiguration(store, clock)
    guard try await near.inspect(configuration).exists else { return nil }
    let engine = try await near.open(configuration)
    let entries: Int
    do throws(CacheError) {
      entries = try await engine.statistics().entries
    } catch {
      try? await engine.close()
      throw error
    }
    try await engine.close()
    return entries
  }

  /// Removes both stores, and the writes that far did not take.
  public func removeStore(_ configuration: EngineConfiguration) async throws(CacheError) {
    try await base.removeStore(configuration)
    guard near.declaration.capabilities.contains(.persistent) else { return }
    for store in ["entries", "pending"] {
      try await near.removeStore(try nearConfiguration(store, configuration.clock))
    }
  }
}

/// What is on this machine of a store with tiers.
public struct NearExamination: Sendable, Hashable {
  /// The number of entries in near; `nil` if it has no store.
  public var entries: Int?
  /// The number of writes that wait for far.
  public var pendingWrites = 0
}

extension StoragePlugin {
  /// The layer `tiered` among the layers of this plugin; `nil` if it has none.
  package var tieredLayer: TieredLayer? {
    self as? TieredLayer ?? (self as? any WrappingPlugin)?.base.tieredLayer
  }

  /// Whether flights take leases in its stores. One that only one process at a time can use needs none, and one that may only be
  /// read takes none. With tiers they are in far.
  package var takesLeases: Bool {
    let holder = tieredLayer?.base.declaration ?? declaration
    return holder.capabilities.contains(.shared) && !declaration.capabilities.contains(.readOnly)
  }
}
