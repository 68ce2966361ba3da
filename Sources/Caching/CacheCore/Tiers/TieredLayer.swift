public import EngineSupport
internal import FetchVocabulary
public import StorageSPI

/// Puts an engine on this machine, near, in front of one that several machines share, far.
///
/// Reads are answered by near where that is safe, and else by far; what far answers, near then holds too. Writes go to far,
/// which judges them, and then to near. Each tier has limits of its own: those of the cache are far's.
///
///     let tiered = TieredLayer(over: shared, near: local, folder: "/var/cache/app/near")
///     let cache = try await Cache(StorageLocation(tiered, options))
///
/// What others remove or replace in far is not served from near for longer than `nearMaxAge`. It takes only as long as a
/// message if far follows changes, and no time at all if it counts them. A process that has just started asks far about
/// each entry once.
///
/// **While far is away** (`unreachable` or `busy`), near answers with what it has, and writes fail as they do without it.
///
/// **If near is damaged**, far answers, and near is rebuilt. Inspecting a store concerns far's.
public struct TieredLayer: WrappingPlugin {
  /// The plugin of far.
  public let base: any StoragePlugin
  /// The plugin of near.
  public let near: any StoragePlugin
  /// The absolute path of the folder for near.
  public let folder: String
  /// How much near may hold, and what goes first.
  public let limits: StoreLimits
  /// How long near answers for an entry after far has confirmed it.
  public let nearMaxAge: Duration
  let uptime: @Sendable () -> ContinuousClock.Instant

  /// The layer around `base`.
  ///
  /// - Parameter uptime: the clock for `nearMaxAge`.
  public init(
    over base: any StoragePlugin, near: any StoragePlugin, folder: String, limits: StoreLimits = .standard,
    nearMaxAge: Duration = .seconds(60), uptime: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) {
    self.base = base
    self.near = near
    self.folder = folder
    self.limits = limits
    self.nearMaxAge = nearMaxAge
    self.uptime = uptime
  }

  /// The declaration of `base`. It is not declared to be `shared`, since another handle sees a commit a little later, unless
  /// `nearMaxAge` is zero.
  public var declaration: EngineDeclaration {
    let inner = base.declaration
    return inner.with(
      inner.capabilities.subtracting(nearMaxAge > .zero ? [.shared, .followsChanges] : [.followsChanges]))
  }

  /// Opens both stores. Far may be away: then each call tries to open it.
  ///
  /// Without near, far answers, and a warning says why.
  ///
  /// - Throws: `CacheError`: far's failure unless it is away; see `StoragePlugin.open(_:)`.
  public func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
    let entries = try nearConfiguration(configuration.clock)
    // First, because near's store is next to far's: none is created next to what belongs to someone else.
    let far = try await openFar(configuration)
    let tier = await NearTier(near, entries, limits)
    return TieredEngine(near: tier, far: far, self, clock: configuration.clock)
  }

  private func openFar(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
    do throws(CacheError) {
      return try await base.open(configuration)
    } catch {
      guard error.isAway else { throw error }
      return AwaitedEngine(after: error, clock: configuration.clock) { _ throws(CacheError) in
        try await base.open(configuration)
      }
    }
  }

  /// What to open near's store with.
  private func nearConfiguration(_ clock: any WallClock) throws(CacheError) -> EngineConfiguration {
    var values: [String: OptionValue] = [:]
    for option in near.declaration.options where option.kind == .path {
      values[option.name] = .text("\(folder)/\(option.name)")
    }
    guard !values.isEmpty || !near.declaration.capabilities.contains(.persistent) else {
      throw CacheError(
        .invalidOption, "\(near.declaration.name) cannot be near: its stores are not in a folder",
        hint: "name an engine whose stores are files, or memory")
    }
    return try EngineConfiguration(for: near.declaration, values: values, clock: clock)
  }

  /// Removes both stores, near's first: it fills again if far's cannot be removed. Moves the store of far aside.
  public func removeStore(
    _ configuration: EngineConfiguration, movingAside suffix: String?
  ) async throws(CacheError) -> [String] {
    if near.declaration.capabilities.contains(.persistent) {
      _ = try await near.removeStore(try nearConfiguration(configuration.clock), movingAside: nil)
    }
    return try await base.removeStore(configuration, movingAside: suffix)
  }
}

extension StoragePlugin {
  /// The layer `tiered` among the layers of this plugin; `nil` if it has none.
  package var tieredLayer: TieredLayer? {
    self as? TieredLayer ?? wrapped?.tieredLayer
  }

  /// Whether requests take leases in its stores. One that only one process at a time can use needs none, and one that may only be
  /// read takes none. With tiers they are in far.
  package var takesLeases: Bool {
    let holder = tieredLayer?.base.declaration ?? declaration
    return holder.capabilities.contains(.shared) && !declaration.capabilities.contains(.readOnly)
  }
}
