public import EngineAPI

/// Puts a local store on this machine in front of a remote store that several machines share.
///
/// A read returns a local copy if that is safe, and otherwise the remote entry, which is then copied. Writes are made by the
/// remote engine, which checks their conditions, and then by the local one. Each store has its own limits: those of the
/// cache are the remote store's.
///
///     let tiered = TieredLayer(over: sharedEngine, local: StorageLocation(localEngine, ["path": .text("/var/cache/app")]))
///     let cache = try await Cache(StorageLocation(tiered, options))
///
/// While the remote store can be reached, a local copy is served only after this process has seen the remote store hold
/// that version, and while the remote engine says that nothing has changed. An engine that counts its changes says so
/// at once, one that follows changes as soon as a message takes. Of one that does neither, and in any case, a copy is
/// served for no longer than `localMaxAge` before the remote store is read again.
///
/// **While the remote store is away** (`unreachable` or `busy`), local copies are served, and writes fail as they do
/// without them.
///
/// **If the local store is damaged**, reads use the remote store, and the local store is removed and filled again. An
/// inspection describes the remote store.
public struct TieredLayer: StoragePlugin {
  /// The plugin of the remote store.
  public let base: any StoragePlugin
  /// The local store.
  public let local: StorageLocation
  /// How much the local store can hold, and which entries are evicted first.
  public let limits: StoreLimits
  /// How long a local copy can be served after the remote store was seen to hold the same version.
  public let localMaxAge: Duration

  /// The layer around `base`.
  public init(
    over base: any StoragePlugin, local: StorageLocation, limits: StoreLimits = .standard,
    localMaxAge: Duration = .seconds(60)
  ) {
    self.base = base
    self.local = local
    self.limits = limits
    self.localMaxAge = localMaxAge
  }

  /// The plugin `base`.
  public var wrapped: (any StoragePlugin)? { base }

  /// The declaration of `base`. It is `shared` only if another handle's commit is seen at once: if the remote engine counts
  /// changes, or `localMaxAge` is zero.
  public var declaration: EngineDeclaration {
    let inner = base.declaration
    let isExact = inner.capabilities.contains(.countsChanges) || localMaxAge <= .zero
    return isExact ? inner : inner.with(inner.capabilities.subtracting([.shared]))
  }

  /// Opens both stores. The remote one can be away: then each call tries to open it.
  ///
  /// Without a local store, the remote engine serves reads, and a warning says why.
  ///
  /// - Throws: `CacheError`: the remote engine's failure unless it is away; see `StoragePlugin.open(_:)`.
  public func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
    let clock = configuration.clock
    // First, because the local store might be next to the remote one: none is created next to what belongs to someone
    // else.
    let remote: any StorageEngine
    do throws(CacheError) { remote = try await base.open(configuration) } catch {
      guard error.isAway else { throw error }
      remote = AwaitedEngine(after: error, clock: clock) { _ throws(CacheError) in try await base.open(configuration) }
    }
    let copies = AwaitedEngine(after: nil, clock: clock) { [local] reason throws(CacheError) in
      if reason.code != .damaged {
        do throws(CacheError) { return try await local.open(clock: clock) } catch {
          if error.code != .damaged { throw error }
        }
      }
      try await local.removeStore(clock: clock)
      return try await local.open(clock: clock)
    }
    await copies.openNow()
    return TieredEngine(local: copies, remote: remote, self, clock: clock)
  }

  /// Removes both stores, the local one first: it fills again if the remote one cannot be removed. Moves the remote one
  /// aside.
  public func removeStore(
    _ configuration: EngineConfiguration, movingAside suffix: String?
  ) async throws(CacheError) -> [String] {
    if local.plugin.declaration.capabilities.contains(.persistent) {
      try await local.removeStore(clock: configuration.clock)
    }
    return try await base.removeStore(configuration, movingAside: suffix)
  }
}

extension StoragePlugin {
  /// The layer `tiered` among the layers of this plugin; `nil` if it has none.
  package var tieredLayer: TieredLayer? {
    self as? TieredLayer ?? wrapped?.tieredLayer
  }

  /// Whether requests take leases in its stores. A store that only one process at a time can use needs none, and a read-only
  /// store can have none. With a local store in front, they are in the remote one.
  package var takesLeases: Bool {
    let holder = tieredLayer?.base.declaration ?? declaration
    return holder.capabilities.contains(.shared) && !declaration.capabilities.contains(.readOnly)
  }
}
