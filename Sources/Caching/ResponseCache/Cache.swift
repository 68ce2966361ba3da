public import CacheCore
public import EngineAPI

// The types that a program names. The rest comes with the modules that declare it: the interface of engines with `EngineAPI`.
@_exported public import struct CacheBase.CacheError
@_exported public import protocol CacheCore.DataTransferService
@_exported public import struct CacheCore.EntryTransforms
@_exported public import struct CacheCore.EvictionPolicy
@_exported public import struct CacheCore.PayloadCodec
@_exported public import enum CacheCore.SingleFlight
@_exported public import struct CacheCore.StoreLimits
@_exported public import struct CacheCore.StoreReport
@_exported public import struct CacheCore.TieredLayer
@_exported public import struct EngineAPI.StorageLocation
@_exported public import struct EngineAPI.Timestamp
@_exported public import protocol EngineAPI.WallClock
@_exported public import struct FetchVocabulary.CacheWarning
@_exported public import struct FetchVocabulary.EntryFacts
@_exported public import enum FetchVocabulary.FetchPolicy
@_exported public import struct FetchVocabulary.Snapshot
@_exported public import enum HTTPCaching.HTTP

/// A durable cache over an engine: values under keys, resources that a closure fetches, and responses to HTTP requests.
///
///     import ResponseCache
///
///     let cache = try await Cache(location)
///     try await cache.set(User(id: 42, name: "Ann"), for: "user/42", expiresAfter: .seconds(3600))
///     let user = try await cache.value(User.self, for: "user/42")
///     let weather = try cache.resource("weather") { (city: String) in try await api.weather(city) }
///     let now = try await weather("Bern")
///     try await cache.close()
///
/// The location is one of an engine, whose module is imported too; `StorageLocation` shows how.
///
/// A cache is a value: copies of it are the same cache. Any number of tasks can use it at once, and with an engine that
/// processes can share, any number of processes. Two caches with different locations never meet.
///
/// Methods throw `CacheError`, whose code is `cancelled` if the calling task was cancelled. Methods that fetch also throw
/// the errors of the closure, and `CancellationError`. An absent entry is `nil`, and a failure never looks like one.
/// Calls leave the caller's actor to encode, to fetch and to wait. They stay on it for a value that was read before and has
/// not changed, which is returned in less than a microsecond, and to read and decode at most 4 KiB if the engine need not
/// wait for a disk or a server.
public struct Cache: Sendable {
  package let store: EntryStore
  package let services: FetchServices
  package let warn: @Sendable (CacheWarning) -> Void
  let observe: (@Sendable (CacheEvent) -> Void)?
  let resources = ResourceRegistry()

  /// Opens the cache at `location`, and creates it first if there is none.
  ///
  /// An engine that maps its file into memory can end the process if the file is damaged. The cache installs no signal
  /// handlers: the process dies of the signal, unless the program has a handler.
  ///
  /// - Parameters:
  ///   - location: the engine and the place of its store, in the short form that the engine's module has.
  ///   - limits: how much the cache can hold, more than nothing; `nil` for no limits. The entry whose last use is
  ///     longest ago is evicted first. A small file next to the store, or inside a store that is a directory, records
  ///     the uses of all processes; for a store on a server without such a file, this process knows its own uses.
  ///   - isShared: whether the HTTP responses in it are for several users, as on a server: then responses for one user
  ///     are not stored, and `s-maxage` counts (RFC 9111). Values and resources do not depend on it.
  ///   - transforms: the transforms of payloads before they are stored, such as `EntryTransforms([ZstdTransform()])`.
  ///   - clock: decides which entries are fresh, stale and expired.
  ///   - fallback: the location that is opened instead if the first one cannot be opened, such as `.memory` for a program
  ///     that might have no place to write to; `nil` to throw. `warn` gets the failure.
  ///   - warn: called once with each failure that costs the caller nothing, such as an origin whose failure a stale value
  ///     covers, a value that could not be stored, a server that is away while the cache is opened: by a mistake in its
  ///     address too, or a store that was moved aside because its damage had ended a process. Those of a sequence of
  ///     snapshots are in its snapshots instead.
  ///   - observe: called with each value or response that the cache has served, for metrics; on the task that waits for
  ///     it, so it must be quick.
  /// - Throws: `CacheError`: the engine's failure, such as `cannotCreate`, `damaged`, `permissionDenied` or `busy`, but
  ///   not `unreachable`: that is a warning, and the store is opened when its server is there; `invalidOption` if the
  ///   limits allow no entry, or two transforms have one name; `cancelled`.
  @concurrent
  public init(
    _ location: StorageLocation, limits: StoreLimits? = .standard, isShared: Bool = false,
    transforms: EntryTransforms = .none, clock: any WallClock = SystemWallClock(), fallback: StorageLocation? = nil,
    warn: @escaping @Sendable (CacheWarning) -> Void = { _ in },
    observe: (@Sendable (CacheEvent) -> Void)? = nil
  ) async throws(CacheError) {
    var rules = HTTPCacheRules(isShared: isShared, freshness: .standard)
    rules.credentialKey = CredentialKey(of: location)
    do throws(CacheError) {
      try await self.init(
        location, limits: limits, transforms: transforms, rules: rules, clock: clock, warn: warn, observe: observe)
    } catch {
      // A mistake of the program is not covered up.
      guard let fallback, ![.cancelled, .invalidOption].contains(error.code) else { throw error }
      warn(
        CacheWarning(
          .opening,
          CacheError(
            error.code, "\(error.message); the fallback is opened instead", hint: error.hint, key: error.key,
            cause: error)))
      rules.credentialKey = CredentialKey(of: fallback)
      try await self.init(
        fallback, limits: limits, transforms: transforms, rules: rules, clock: clock, warn: warn, observe: observe)
    }
  }

  /// Opens the cache at `location` with `rules`, whose times are also those of resources without their own times.
  @concurrent
  package init(
    _ location: StorageLocation, limits: StoreLimits?, transforms: EntryTransforms, rules: HTTPCacheRules,
    home: String? = nil, clock: any WallClock, warn: @escaping @Sendable (CacheWarning) -> Void,
    observe: (@Sendable (CacheEvent) -> Void)?
  ) async throws(CacheError) {
    try limits?.requireRoom()
    try transforms.requireNames()
    let store = try await Self.open(location, limits, transforms, home: home, clock, warn)
    self.init(
      store: store,
      services: FetchServices(
        rules: rules, now: { clock.now.sinceEpoch }, coalescer: store.coalescer,
        background: BackgroundWork(warn: warn)),
      warn: warn, observe: observe)
  }

  private static func open(
    _ location: StorageLocation, _ limits: StoreLimits?, _ transforms: EntryTransforms, home: String?,
    _ clock: any WallClock, _ warn: @Sendable (CacheWarning) -> Void
  ) async throws(CacheError) -> EntryStore {
    do throws(CacheError) {
      let (store, warning) = try await EntryStore.open(
        location.plugin, try location.configuration(clock), limits: limits, transforms: transforms, home: home)
      if let warning { warn(CacheWarning(.opening, warning)) }
      return store
    } catch {
      if error.code == .unreachable {
        warn(CacheWarning(.opening, error))
        let engine = AwaitedEngine(after: error, clock: clock) { _ throws(CacheError) in
          try await location.open(clock: clock)
        }
        return EntryStore(
          over: engine, of: location.plugin, clock, limits: limits, transforms: transforms)
      }
      guard error.code == .damaged, error.hint.isEmpty else { throw error }
      throw CacheError(
        .damaged, error.message,
        hint: "remove it with StorageLocation.removeStore(), or repair it with the tool cachectl", key: error.key,
        cause: error)
    }
  }

  /// The cache over a store that is open, for a program that opens it by configuration.
  package init(
    store: EntryStore, services: FetchServices, warn: @escaping @Sendable (CacheWarning) -> Void,
    observe: (@Sendable (CacheEvent) -> Void)? = nil
  ) {
    self.store = store
    self.services = services
    self.warn = warn
    self.observe = observe
  }

  /// Waits until nothing of the cache runs in the background: revalidations of stale entries, and responses that are stored
  /// after their caller has them. Tests call it before they look at the store or the origin.
  public func settled() async { await services.background.settled() }

  /// Waits for revalidations that run in the background, and closes the cache. Every later call fails with the code
  /// `closed`, but a resource still calls its closure, with a warning, and stores nothing.
  ///
  /// - Parameter patience: how long to wait. Revalidations that take longer are cancelled, and store nothing; a closure
  ///   that ignores the cancellation can continue after the cache has closed.
  /// - Throws: `CacheError`: the engine could not be closed in order.
  @concurrent
  public func close(waitingFor patience: Duration = .seconds(10)) async throws(CacheError) {
    await services.background.finish(within: patience)
    for warning in [try await store.close(), store.tiered?.tierWarning] {
      if let warning { warn(CacheWarning(.closing, warning)) }
    }
  }
}

/// Whether a caller runs on an actor. Separate, because the optimizer fails on the comparison in an asynchronous function.
@inline(never)
func isOnActor(_ caller: (any Actor)?) -> Bool { caller != nil }

extension CacheError {
  /// The error as the front door throws it: `CancellationError` for a cancelled task, the closure's own error for a
  /// resource that could not be fetched, otherwise this one.
  var callersError: any Error {
    if code == .cancelled { return CancellationError() }
    var cause = cause
    while let error = cause as? CacheError { cause = error.cause }
    return (cause as? ClosureFailure)?.error ?? self
  }
}
