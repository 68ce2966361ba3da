public import FetchVocabulary
internal import HTTPCaching
package import CacheCore
internal import EngineAPI

/// Something that a closure fetches and the cache keeps, one entry for each query.
///
///     let weather = try cache.resource("weather", freshFor: .seconds(600)) { (city: String) in try await api.weather(city) }
///     let now = try await weather("Bern")
///     for try await snapshot in weather.snapshots(for: "Bern", policy: .cachedThenNetwork) { show(snapshot.value) }
///
/// A fresh entry is returned without calling the closure. Simultaneous callers with the same query share one call of
/// the closure, in this process and, with an engine that processes can share, in all of them. If the closure fails, a
/// stale entry is served.
public struct Resource<Query: Sendable, Value: Sendable>: Sendable {
  let cache: Cache
  let name: String
  let version: Int
  package let freshness: FreshnessPolicy
  package let singleFlight: SingleFlight
  let codec: PayloadCodec<Value>
  let text: @Sendable (Query) throws(CacheError) -> String
  let fetch: @Sendable (Query) async throws -> Fetched<Value>

  /// The value for `query`: from the cache if it is fresh there, otherwise from the closure.
  ///
  /// Failures that did not prevent the response go to the cache's `warn`.
  ///
  /// - Parameters:
  ///   - policy: whether the cache or the closure provides the value. With `cachedThenNetwork` the cached value is the result if
  ///     there is one, and the closure is not called.
  ///   - maxAge: an entry older than this counts as stale; `nil` for no limit.
  ///   - maxStale: an entry that has been stale for no longer than this is served too; `nil` to serve none.
  /// - Throws: the closure's error, if no stale entry can be served; `CacheError` with the closure's message if a
  ///   closure in another process failed, `notCached` if the policy allows only the cache and it has no entry;
  ///   `CancellationError`.
  public func callAsFunction(
    _ query: Query, policy: FetchPolicy = .cacheFirst, maxAge: Duration? = nil, maxStale: Duration? = nil
  ) async throws -> Value {
    let options = FetchOptions(policy: policy, maxAge: maxAge, maxStale: maxStale)
    let call = cache.observer(of: name)?.begin()
    if let kept = kept(query, options, readsSmall: isOnActor(#isolation), call) { return kept }
    return try await fetched(query, options)
  }

  /// A separate function, because the types of a fetch would cost a kept value an eighth of its time.
  @concurrent
  @inline(never)
  private func fetched(_ query: Query, _ options: FetchOptions) async throws -> Value {
    try await snapshots(for: query, options).first(warn: cache.warn)
  }

  /// The value that a fetch for `query` returns, if it is at hand, decoded and unchanged since, and the rules let the
  /// cache serve it; otherwise `nil`. Runs on the caller's actor.
  ///
  /// - Parameters:
  ///   - readsSmall: whether to read a small entry too, which is not at hand.
  ///   - call: is ended if there is a value.
  private func kept(_ query: Query, _ options: FetchOptions, readsSmall: Bool, _ call: Observer.Call?) -> Value? {
    // The fetch explains what it does, ends if it is cancelled, and says what comes of a failure.
    guard cache.services.observe == nil, !Task.isCancelled else { return nil }
    let (rules, now) = (HTTPCacheRules(freshness: freshness), cache.services.now())
    var isStale = false
    let value = try? cache.store.keptResponse(for: try request(query), codec, readsSmall: readsSmall) { head in
      isStale = head.freshUntil <= now
      return rules.decision(for: ResourceRequest.message, stored: head, options: options, now: now).action == .serve
    }
    if value != nil { call?.end(isStale ? .stale : .hit) }
    return value
  }

  /// The values for `query` in the order in which they become known, each with its source: usually one; with
  /// `cachedThenNetwork` the cached value, and then the closure's.
  ///
  /// Nothing happens until the caller requests the first one.
  ///
  /// - Parameters:
  ///   - policy: whether the cache or the closure provides the value, or both in turn.
  ///   - maxAge: an entry older than this counts as stale; `nil` for no limit.
  ///   - maxStale: an entry that has been stale for no longer than this is served too; `nil` to serve none.
  public func snapshots(
    for query: Query, policy: FetchPolicy = .cacheFirst, maxAge: Duration? = nil, maxStale: Duration? = nil
  ) -> SnapshotSequence<Value> {
    snapshots(for: query, FetchOptions(policy: policy, maxAge: maxAge, maxStale: maxStale))
  }

  private func snapshots(for query: Query, _ options: FetchOptions) -> SnapshotSequence<Value> {
    SnapshotSequence(
      .deferred { () throws(CacheError) in
        let request = try request(query)
        return CacheCore.fetch(
          request, storage: EngineResponseStorage(store: cache.store, codec: codec),
          origin: ClosureOrigin(name: request.query.isEmpty ? name : "\(name) of '\(request.query)'") {
            try await fetch(query)
          }, services: services,
          options: options, toDomain: { $0 })
      }, cache.observer(of: name))
  }

  /// Makes the entry for `query` stale, so that the next fetch calls the closure, and returns whether it was fresh. It
  /// can still be served if the closure fails.
  ///
  /// - Throws: `CacheError`: the engine's failure.
  @discardableResult
  public func invalidate(_ query: Query) async throws(CacheError) -> Bool {
    try await cache.change(.makeStale, [try request(query)]) > 0
  }

  /// Makes all entries of this resource stale, and returns how many were fresh.
  ///
  /// - Throws: `CacheError`: the engine's failure.
  @discardableResult
  public func invalidateAll() async throws(CacheError) -> Int { try await cache.change(.makeStale, prefix: prefix) }

  /// Removes the entry for `query`, and returns whether there was one.
  ///
  /// - Throws: `CacheError`: the engine's failure.
  @discardableResult
  public func remove(_ query: Query) async throws(CacheError) -> Bool {
    try await cache.change(.remove, [try request(query)]) > 0
  }

  /// Removes all entries of this resource, also of other versions, and returns how many there were.
  ///
  /// - Throws: `CacheError`: the engine's failure.
  @discardableResult
  public func removeAll() async throws(CacheError) -> Int { try await cache.change(.remove, prefix: prefix) }

  private func request(_ query: Query) throws(CacheError) -> ResourceRequest {
    ResourceRequest(name: name, query: try text(query), version: version)
  }

  /// The prefix of the keys of this resource's entries, and of no others.
  private var prefix: String { CacheKey.prefix(ofNamespace: name) }

  private var services: FetchServices {
    var services = cache.services
    services.rules = HTTPCacheRules(freshness: freshness)
    services.singleFlight = singleFlight
    return services
  }
}

/// A resource without a query.
extension Resource where Query == Void {
  /// The value; like `callAsFunction(_:policy:maxAge:maxStale:)`.
  public func callAsFunction(
    policy: FetchPolicy = .cacheFirst, maxAge: Duration? = nil, maxStale: Duration? = nil
  ) async throws -> Value {
    try await self((), policy: policy, maxAge: maxAge, maxStale: maxStale)
  }

  /// The values in the order in which they become known; like `snapshots(for:policy:maxAge:maxStale:)`.
  public func snapshots(
    policy: FetchPolicy = .cacheFirst, maxAge: Duration? = nil, maxStale: Duration? = nil
  ) -> SnapshotSequence<Value> {
    snapshots(for: (), policy: policy, maxAge: maxAge, maxStale: maxStale)
  }

  /// Makes the entry stale, and returns whether it was fresh; like `invalidate(_:)`.
  @discardableResult
  public func invalidate() async throws(CacheError) -> Bool { try await invalidate(()) }

  /// Removes the entry, and returns whether there was one; like `remove(_:)`.
  @discardableResult
  public func remove() async throws(CacheError) -> Bool { try await remove(()) }
}

/// The request for a closure's value.
struct ResourceRequest: CacheableRequest {
  static let resource = "resource"

  /// The request as the rules examine it.
  static let message = HTTP.Request(url: "resource:")

  let name: String
  let query: String
  let version: Int

  var namespace: String { name }
  var parameters: [(name: String, value: String)] { [("query", query), ("version", String(version))] }
}

/// A closure as the origin of one value.
struct ClosureOrigin<Request: CacheableRequest, Value: Sendable>: ResponseOrigin {
  /// The name of the value, for people.
  let name: String
  let fetch: @Sendable () async throws -> Fetched<Value>

  func message(for request: Request) -> HTTP.Request { ResourceRequest.message }

  func answer(to request: Request, conditions: HTTP.Fields) async throws(CacheError) -> OriginAnswer<Value> {
    do {
      let fetched = try await fetch()
      return OriginAnswer(head: HTTP.ResponseHead(status: 200, fields: fetched.fields), response: fetched.value)
    } catch {
      // Without a cancellation of the request, the closure has cancelled a part of its work: it has failed.
      if error is CancellationError, Task.isCancelled { throw .cancelled }
      throw CacheError(
        .originUnreachable, "\(name) could not be fetched: \(error)", cause: ClosureFailure(error: error))
    }
  }
}

/// The error of a resource's closure.
struct ClosureFailure: Error {
  let error: any Error
}

/// A value that a closure has fetched, with its own times, as a token, a signed URL or a certificate has them.
///
///     let token = try cache.resource("token") {
///       let answer = try await service.logIn()
///       return Fetched(answer.token, freshFor: .seconds(answer.expiresIn - 30), staleFor: .zero)
///     }
public struct Fetched<Value: Sendable>: Sendable {
  /// The value.
  public var value: Value
  /// How long the value is fresh, in whole seconds, rounded down; `nil` for as long as the resource says. A value that is
  /// fresh for less than a second is fetched again by the next caller.
  public var freshFor: Duration?
  /// How long after that it can be served if the closure fails, in whole seconds; `nil` for as long as the resource says. With
  /// zero it is never served stale, whatever a call allows.
  public var staleFor: Duration?

  /// Creates a fetched value.
  public init(_ value: Value, freshFor: Duration? = nil, staleFor: Duration? = nil) {
    self.value = value
    self.freshFor = freshFor
    self.staleFor = staleFor
  }

  /// Both times as an origin says them over HTTP.
  var fields: HTTP.Fields {
    var directives = freshFor.map { ["max-age=\(max($0.components.seconds, 0))"] } ?? []
    if let staleFor {
      directives.append(staleFor > .zero ? "stale-if-error=\(staleFor.components.seconds)" : "must-revalidate")
    }
    return directives.isEmpty ? [:] : ["cache-control": directives.joined(separator: ", ")]
  }
}
