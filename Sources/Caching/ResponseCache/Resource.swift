public import FetchVocabulary
internal import HTTPCaching
public import CacheCore
internal import EngineAPI

/// Something that a closure fetches and the cache keeps, one entry for each query.
///
///     let weather = cache.resource("weather", freshFor: .seconds(600)) { (city: String) in try await api.weather(city) }
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
  let codec: PayloadCodec<Value>
  let text: @Sendable (Query) -> String
  let fetch: @Sendable (Query) async throws -> Value

  /// The value for `query`: from the cache if it is fresh there, otherwise from the closure.
  ///
  /// Failures that did not prevent the response go to the cache's `warn`.
  ///
  /// - Parameters:
  ///   - policy: whether the cache or the closure provides the value. With `cachedThenNetwork` the cached value is the
  ///     result if there is one, and the closure is not called.
  ///   - maxAge: an entry older than this counts as stale; `nil` for no limit.
  ///   - maxStale: an entry that has been stale for no longer than this is served too; `nil` to serve none.
  /// - Throws: the closure's error, if no stale entry can be served; `CacheError` with the closure's message if a
  ///   closure in another process failed, `notCached` if the policy allows only the cache and it has no entry;
  ///   `CancellationError`.
  public func callAsFunction(
    _ query: Query, policy: FetchPolicy = .cacheFirst, maxAge: Duration? = nil, maxStale: Duration? = nil
  ) async throws -> Value {
    let options = FetchOptions(policy: policy, maxAge: maxAge, maxStale: maxStale)
    if let kept = kept(query, options) { return kept }
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
  private func kept(_ query: Query, _ options: FetchOptions) -> Value? {
    // The fetch explains what it does, ends if it is cancelled, and says what comes of a failure.
    guard cache.services.observe == nil, !Task.isCancelled else { return nil }
    let (rules, now) = (HTTPCacheRules(freshness: freshness), cache.services.now())
    return try? cache.store.keptResponse(for: request(query), codec) { head in
      rules.decision(for: ResourceRequest.message, stored: head, options: options, now: now).action == .serve
    }
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
      CacheCore.fetch(
        request(query), storage: EngineResponseStorage(store: cache.store, codec: codec),
        origin: ClosureOrigin(name: name, query: query, fetch: fetch), services: services,
        options: options, toDomain: { $0 }))
  }

  /// Makes the entry for `query` stale, so that the next fetch calls the closure, and returns whether it was fresh. It
  /// can still be served if the closure fails.
  ///
  /// - Throws: `CacheError`: the engine's failure.
  @discardableResult
  public func invalidate(_ query: Query) async throws -> Bool {
    let request = request(query)
    return try await cache.change(.makeStale) { () throws(CacheError) in try request.cacheKey }
  }

  /// Makes all entries of this resource stale, and returns how many were fresh.
  ///
  /// - Throws: `CacheError`: the engine's failure, or `invalidKey` if no resource can have that name.
  @discardableResult
  public func invalidateAll() async throws -> Int { try await cache.change(.makeStale, prefix: try prefix) }

  /// Removes the entry for `query`, and returns whether there was one.
  ///
  /// - Throws: `CacheError`: the engine's failure.
  @discardableResult
  public func remove(_ query: Query) async throws -> Bool {
    let request = request(query)
    return try await cache.change(.remove) { () throws(CacheError) in try request.cacheKey }
  }

  /// Removes all entries of this resource, also of other versions, and returns how many there were.
  ///
  /// - Throws: `CacheError`: the engine's failure, or `invalidKey` if no resource can have that name.
  @discardableResult
  public func removeAll() async throws -> Int { try await cache.change(.remove, prefix: try prefix) }

  private func request(_ query: Query) -> ResourceRequest {
    ResourceRequest(name: name, query: text(query), version: version)
  }

  /// The prefix of the keys of this resource's entries, and of no others.
  private var prefix: String {
    get throws(CacheError) {
      _ = try ResourceRequest(name: name, query: "", version: version).cacheKey
      return CacheKey.prefix(ofNamespace: name)
    }
  }

  private var services: FetchServices {
    var services = cache.services
    services.rules = HTTPCacheRules(freshness: freshness)
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
}

/// Making resources of closures.
extension Cache {
  /// A resource that `fetch` fetches, for queries that are texts or numbers.
  ///
  /// A resource is a value, and making one costs nothing: it can be a constant of the program or made for one call.
  ///
  /// - Parameters:
  ///   - name: the resource's name, and the namespace of its entries: a lowercase letter, then at most 31 lowercase
  ///     letters and digits. With another name, or `values`, `url` and `leases`, every fetch fails with the code
  ///     `invalidKey`. Two resources of one cache need two names.
  ///   - version: the version of `Value`'s meaning. Raise it when the type changes in a way that old entries must not
  ///     be read by: they are left to expire. An entry that cannot be decoded any more is fetched again, with a warning.
  ///   - lifetime: how long a value is fresh; `nil` for an hour, or for the configured time.
  ///   - staleIfError: how long after that it can be served if `fetch` fails; `nil` for a day, or likewise.
  ///   - staleWhileRevalidate: how long after that it can be served while `fetch` is called in the background; `nil`
  ///     for no time, or likewise.
  ///   - fetch: requests the value of a query. After any error except a cancellation a stale value can be served.
  public func resource<Query: LosslessStringConvertible & Sendable, Value: Codable & Sendable>(
    _ name: String, version: Int = 1, freshFor lifetime: Duration? = nil,
    staleIfError: Duration? = nil,
    staleWhileRevalidate: Duration? = nil,
    fetch: @escaping @Sendable (Query) async throws -> Value
  ) -> Resource<Query, Value> {
    resource(
      name, version: version, freshFor: lifetime, staleIfError: staleIfError,
      staleWhileRevalidate: staleWhileRevalidate, key: { String($0) }, codec: .codable, fetch: fetch)
  }

  /// A resource for queries with a raw value, such as the cases of an `enum`; otherwise like
  /// `resource(_:version:freshFor:staleIfError:staleWhileRevalidate:fetch:)`, which is preferred for queries that are
  /// also a text.
  @_disfavoredOverload
  public func resource<Query: RawRepresentable & Sendable, Value: Codable & Sendable>(
    _ name: String, version: Int = 1, freshFor lifetime: Duration? = nil,
    staleIfError: Duration? = nil,
    staleWhileRevalidate: Duration? = nil,
    fetch: @escaping @Sendable (Query) async throws -> Value
  ) -> Resource<Query, Value> where Query.RawValue: LosslessStringConvertible {
    resource(
      name, version: version, freshFor: lifetime, staleIfError: staleIfError,
      staleWhileRevalidate: staleWhileRevalidate, key: { String($0.rawValue) }, codec: .codable, fetch: fetch)
  }

  /// A resource without a query, which has one value; otherwise like
  /// `resource(_:version:freshFor:staleIfError:staleWhileRevalidate:fetch:)`.
  ///
  ///     let rates = cache.resource("rates") { try await bank.rates() }
  ///     let today = try await rates()
  public func resource<Value: Codable & Sendable>(
    _ name: String, version: Int = 1, freshFor lifetime: Duration? = nil,
    staleIfError: Duration? = nil,
    staleWhileRevalidate: Duration? = nil,
    fetch: @escaping @Sendable () async throws -> Value
  ) -> Resource<Void, Value> {
    resource(
      name, version: version, freshFor: lifetime, staleIfError: staleIfError,
      staleWhileRevalidate: staleWhileRevalidate, key: { (_: Void) in "" }, codec: .codable,
      fetch: { (_: Void) in try await fetch() })
  }

  /// A resource for queries of any type; otherwise like
  /// `resource(_:version:freshFor:staleIfError:staleWhileRevalidate:fetch:)`.
  ///
  /// - Parameters:
  ///   - key: what tells a query from others, with everything that the value depends on and no secrets, such as
  ///     `\.description` or `{ "\($0.city)/\($0.unit)" }`.
  public func resource<Query: Sendable, Value: Codable & Sendable>(
    _ name: String, version: Int = 1, freshFor lifetime: Duration? = nil,
    staleIfError: Duration? = nil,
    staleWhileRevalidate: Duration? = nil,
    key: @escaping @Sendable (Query) -> String, fetch: @escaping @Sendable (Query) async throws -> Value
  ) -> Resource<Query, Value> {
    resource(
      name, version: version, freshFor: lifetime, staleIfError: staleIfError,
      staleWhileRevalidate: staleWhileRevalidate, key: key, codec: .codable, fetch: fetch)
  }

  /// A resource whose values `codec` encodes; otherwise like
  /// `resource(_:version:freshFor:staleIfError:staleWhileRevalidate:key:fetch:)`.
  public func resource<Query: Sendable, Value: Sendable>(
    _ name: String, version: Int = 1, freshFor lifetime: Duration? = nil,
    staleIfError: Duration? = nil,
    staleWhileRevalidate: Duration? = nil,
    key: @escaping @Sendable (Query) -> String, codec: PayloadCodec<Value>,
    fetch: @escaping @Sendable (Query) async throws -> Value
  ) -> Resource<Query, Value> {
    let standard = services.rules.freshness
    return Resource(
      cache: self, name: name, version: version,
      freshness: FreshnessPolicy(
        timeToLive: lifetime ?? standard.timeToLive, staleIfError: staleIfError ?? standard.staleIfError,
        staleWhileRevalidate: staleWhileRevalidate ?? standard.staleWhileRevalidate),
      codec: codec, text: key, fetch: fetch)
  }
}

/// The request for a closure's result.
struct ResourceRequest: CacheableRequest {
  static let resource = "resource"
  /// The namespaces of everything else that a cache keeps.
  private static let reservedNames = [ValueKey.resource, "url", "leases"]

  /// The request as the rules examine it.
  static let message = HTTPRequest(url: "resource:")

  let name: String
  let query: String
  let version: Int

  var namespace: String { name }
  var parameters: [(name: String, value: String)] { [("query", query), ("version", String(version))] }

  /// The key of the entry for this request.
  ///
  /// - Throws: `CacheError`: `invalidKey` if no resource can have that name, `invalidRequest` if the key is too long.
  var cacheKey: CacheKey {
    get throws(CacheError) {
      try checkName()
      return try CacheKey(for: self)
    }
  }

  /// Throws `invalidKey` if entries under `name` are not the resource's alone. The key's initializer reports mistakes
  /// in any other name.
  func checkName() throws(CacheError) {
    if Self.reservedNames.contains(name) {
      throw CacheError(.invalidKey, "a resource cannot be called '\(name)'", hint: "the cache itself uses that name")
    }
  }
}

struct ClosureOrigin<Query: Sendable, Value: Sendable>: ResponseOrigin {
  typealias Request = ResourceRequest

  let name: String
  let query: Query
  let fetch: @Sendable (Query) async throws -> Value

  func message(for request: ResourceRequest) throws(CacheError) -> HTTPRequest {
    try request.checkName()
    return ResourceRequest.message
  }

  func answer(
    to request: ResourceRequest, conditions: HTTPFields
  ) async throws(CacheError) -> OriginAnswer<Value> {
    do {
      return OriginAnswer(head: HTTPResponseHead(status: 200), response: try await fetch(query))
    } catch is CancellationError {
      throw .cancelled
    } catch {
      throw CacheError(
        .originUnreachable, "\(name) of '\(request.query)' could not be fetched: \(error)",
        cause: ClosureFailure(error: error))
    }
  }
}

/// The error of a resource's closure.
struct ClosureFailure: Error {
  let error: any Error
}
