internal import HTTPCaching
public import CacheCore

/// Making resources of closures.
extension Cache {
  /// A resource that `fetch` fetches, for queries that are texts or numbers.
  ///
  /// A resource is a value, and making one costs nothing: it may be a constant of the program or made for one call.
  ///
  /// - Parameters:
  ///   - name: the resource's name, and the namespace of its entries: a lower-case letter, then at most 31 lower-case
  ///     letters and digits. With another name, or `values`, `url` and `leases`, every fetch fails with the code
  ///     `invalidKey`. Two resources of one cache need two names.
  ///   - version: the version of `Value`'s meaning. Raise it when the type changes in a way that old entries must not
  ///     be read by: they are left to expire. An entry that cannot be decoded any more is fetched again, with a warning.
  ///   - lifetime: how long a value is fresh; `nil` for an hour, or for what a configuration says.
  ///   - staleIfError: how long after that it may stand in if `fetch` fails; `nil` for a day, or likewise.
  ///   - staleWhileRevalidate: how long after that it may be served while `fetch` is called in the background; `nil` for
  ///     no time, or likewise.
  ///   - fetch: asks for the value of a query. Any error but a cancellation lets a stale value stand in.
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
  ///   - key: what tells a query from others, with everything that the answer depends on and no secrets, such as
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
