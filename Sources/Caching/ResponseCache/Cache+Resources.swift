public import FetchVocabulary
internal import HTTPCaching
public import CacheCore
internal import EngineAPI
internal import Synchronization

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Making resources of closures.
///
/// A resource is a value, and making one costs next to nothing: it can be a constant of the program or made for one call.
/// Several parts of a program that fetch the same thing make their resource in one place: two places with one name are a
/// mistake, as they would serve each other's values.
extension Cache {
  /// A resource that `fetch` fetches, for queries that are texts or numbers.
  ///
  /// - Parameters:
  ///   - name: the resource's name, and the namespace of its entries: a lowercase letter, then at most 31 lowercase
  ///     letters and digits, but not `values`, `url` or `leases`.
  ///   - version: the version of `Value`'s meaning. Raise it when the type changes in a way that old entries must not
  ///     be read by: they are left to expire. An entry that cannot be decoded any more is fetched again, with a warning.
  ///   - lifetime: how long a value is fresh; `nil` for an hour, or for the configured time.
  ///   - staleIfError: how long after that it can be served if `fetch` fails; `nil` for a day, or likewise.
  ///   - staleWhileRevalidate: how long after that it can be served while `fetch` is called in the background; `nil` for
  ///     no time, or likewise.
  ///   - singleFlight: which fetches of one query share a call of `fetch`. A call that costs less than a write to the store
  ///     need not be shared with other processes.
  ///   - fetch: requests the value of a query. After any error except a cancellation a stale value can be served.
  /// - Throws: `CacheError`: `invalidKey` if no resource can have that name, or another place in the program has made a
  ///   resource of that name and version in this cache, or a codec of the same identifier and value type.
  public func resource<Query: LosslessStringConvertible & Sendable, Value: Codable & Sendable>(
    _ name: String, version: Int = 1, freshFor lifetime: Duration? = nil, staleIfError: Duration? = nil,
    staleWhileRevalidate: Duration? = nil, singleFlight: SingleFlight = .acrossProcesses,
    file: StaticString = #fileID, line: UInt = #line, fetch: @escaping @Sendable (Query) async throws -> Value
  ) throws(CacheError) -> Resource<Query, Value> {
    try resource(
      name, version: version, freshFor: lifetime, staleIfError: staleIfError,
      staleWhileRevalidate: staleWhileRevalidate, singleFlight: singleFlight, key: { String($0) }, codec: .codable,
      file: file, line: line, fetch: fetch)
  }

  /// A resource for queries that can be encoded, such as a `struct` or an `enum`. Their key is their JSON, which takes some
  /// microseconds to make for every fetch: a `key` is faster. A `Set` has no fixed order, so a query with one needs a `key`.
  /// Otherwise like
  /// `resource(_:version:freshFor:staleIfError:staleWhileRevalidate:singleFlight:file:line:fetch:)`, which is preferred for
  /// queries that are also a text.
  @_disfavoredOverload
  public func resource<Query: Hashable & Encodable & Sendable, Value: Codable & Sendable>(
    _ name: String, version: Int = 1, freshFor lifetime: Duration? = nil, staleIfError: Duration? = nil,
    staleWhileRevalidate: Duration? = nil, singleFlight: SingleFlight = .acrossProcesses,
    file: StaticString = #fileID, line: UInt = #line, fetch: @escaping @Sendable (Query) async throws -> Value
  ) throws(CacheError) -> Resource<Query, Value> {
    try make(
      name, version, (lifetime, staleIfError, staleWhileRevalidate), singleFlight, .codable, (file, line),
      text: { query throws(CacheError) in try Self.json(query) }, fetch: { Fetched(try await fetch($0)) })
  }

  /// A resource without a query, which has one value; otherwise like
  /// `resource(_:version:freshFor:staleIfError:staleWhileRevalidate:singleFlight:file:line:fetch:)`.
  ///
  ///     let rates = try cache.resource("rates") { try await bank.rates() }
  ///     let today = try await rates()
  public func resource<Value: Codable & Sendable>(
    _ name: String, version: Int = 1, freshFor lifetime: Duration? = nil, staleIfError: Duration? = nil,
    staleWhileRevalidate: Duration? = nil, singleFlight: SingleFlight = .acrossProcesses,
    file: StaticString = #fileID, line: UInt = #line, fetch: @escaping @Sendable () async throws -> Value
  ) throws(CacheError) -> Resource<Void, Value> {
    try resource(
      name, version: version, freshFor: lifetime, staleIfError: staleIfError,
      staleWhileRevalidate: staleWhileRevalidate, singleFlight: singleFlight, key: { (_: Void) in "" },
      codec: .codable, file: file, line: line, fetch: { (_: Void) in try await fetch() })
  }

  /// A resource for queries that are texts or numbers, whose closure says how long each value is fresh, such as a signed
  /// URL; otherwise like `resource(_:version:freshFor:staleIfError:staleWhileRevalidate:singleFlight:file:line:fetch:)`.
  public func resource<Query: LosslessStringConvertible & Sendable, Value: Codable & Sendable>(
    _ name: String, version: Int = 1, freshFor lifetime: Duration? = nil, staleIfError: Duration? = nil,
    staleWhileRevalidate: Duration? = nil, singleFlight: SingleFlight = .acrossProcesses,
    file: StaticString = #fileID, line: UInt = #line, fetch: @escaping @Sendable (Query) async throws -> Fetched<Value>
  ) throws(CacheError) -> Resource<Query, Value> {
    try resource(
      name, version: version, freshFor: lifetime, staleIfError: staleIfError,
      staleWhileRevalidate: staleWhileRevalidate, singleFlight: singleFlight, key: { String($0) }, codec: .codable,
      file: file, line: line, fetch: fetch)
  }

  /// A resource without a query whose closure says how long its value is fresh, such as a token; otherwise like
  /// `resource(_:version:freshFor:staleIfError:staleWhileRevalidate:singleFlight:file:line:fetch:)`.
  public func resource<Value: Codable & Sendable>(
    _ name: String, version: Int = 1, freshFor lifetime: Duration? = nil, staleIfError: Duration? = nil,
    staleWhileRevalidate: Duration? = nil, singleFlight: SingleFlight = .acrossProcesses,
    file: StaticString = #fileID, line: UInt = #line, fetch: @escaping @Sendable () async throws -> Fetched<Value>
  ) throws(CacheError) -> Resource<Void, Value> {
    try resource(
      name, version: version, freshFor: lifetime, staleIfError: staleIfError,
      staleWhileRevalidate: staleWhileRevalidate, singleFlight: singleFlight, key: { (_: Void) in "" },
      codec: .codable, file: file, line: line, fetch: { (_: Void) in try await fetch() })
  }

  /// A resource for queries of any type; otherwise like
  /// `resource(_:version:freshFor:staleIfError:staleWhileRevalidate:singleFlight:file:line:fetch:)`.
  ///
  /// - Parameters:
  ///   - key: what tells a query from others, with everything that the value depends on and no secrets, such as `\.id`
  ///     or `{ "\($0.city)/\($0.unit)" }`.
  public func resource<Query: Sendable, Key: LosslessStringConvertible & Sendable, Value: Codable & Sendable>(
    _ name: String, version: Int = 1, freshFor lifetime: Duration? = nil, staleIfError: Duration? = nil,
    staleWhileRevalidate: Duration? = nil, singleFlight: SingleFlight = .acrossProcesses,
    key: @escaping @Sendable (Query) -> Key, file: StaticString = #fileID, line: UInt = #line,
    fetch: @escaping @Sendable (Query) async throws -> Value
  ) throws(CacheError) -> Resource<Query, Value> {
    try resource(
      name, version: version, freshFor: lifetime, staleIfError: staleIfError,
      staleWhileRevalidate: staleWhileRevalidate, singleFlight: singleFlight, key: key, codec: .codable, file: file,
      line: line, fetch: fetch)
  }

  /// A resource for queries of any type whose closure says how long each value is fresh; otherwise like
  /// `resource(_:version:freshFor:staleIfError:staleWhileRevalidate:singleFlight:key:file:line:fetch:)`.
  public func resource<Query: Sendable, Key: LosslessStringConvertible & Sendable, Value: Codable & Sendable>(
    _ name: String, version: Int = 1, freshFor lifetime: Duration? = nil, staleIfError: Duration? = nil,
    staleWhileRevalidate: Duration? = nil, singleFlight: SingleFlight = .acrossProcesses,
    key: @escaping @Sendable (Query) -> Key, file: StaticString = #fileID, line: UInt = #line,
    fetch: @escaping @Sendable (Query) async throws -> Fetched<Value>
  ) throws(CacheError) -> Resource<Query, Value> {
    try resource(
      name, version: version, freshFor: lifetime, staleIfError: staleIfError,
      staleWhileRevalidate: staleWhileRevalidate, singleFlight: singleFlight, key: key, codec: .codable, file: file,
      line: line, fetch: fetch)
  }

  /// A resource whose values `codec` encodes; otherwise like
  /// `resource(_:version:freshFor:staleIfError:staleWhileRevalidate:singleFlight:key:file:line:fetch:)`.
  public func resource<Query: Sendable, Key: LosslessStringConvertible & Sendable, Value: Sendable>(
    _ name: String, version: Int = 1, freshFor lifetime: Duration? = nil, staleIfError: Duration? = nil,
    staleWhileRevalidate: Duration? = nil, singleFlight: SingleFlight = .acrossProcesses,
    key: @escaping @Sendable (Query) -> Key, codec: PayloadCodec<Value>, file: StaticString = #fileID,
    line: UInt = #line, fetch: @escaping @Sendable (Query) async throws -> Value
  ) throws(CacheError) -> Resource<Query, Value> {
    try resource(
      name, version: version, freshFor: lifetime, staleIfError: staleIfError,
      staleWhileRevalidate: staleWhileRevalidate, singleFlight: singleFlight, key: key, codec: codec, file: file,
      line: line, fetch: { Fetched(try await fetch($0)) })
  }

  /// A resource whose values `codec` encodes, and whose closure says how long each value is fresh; otherwise like
  /// `resource(_:version:freshFor:staleIfError:staleWhileRevalidate:singleFlight:key:file:line:fetch:)`.
  public func resource<Query: Sendable, Key: LosslessStringConvertible & Sendable, Value: Sendable>(
    _ name: String, version: Int = 1, freshFor lifetime: Duration? = nil, staleIfError: Duration? = nil,
    staleWhileRevalidate: Duration? = nil, singleFlight: SingleFlight = .acrossProcesses,
    key: @escaping @Sendable (Query) -> Key, codec: PayloadCodec<Value>, file: StaticString = #fileID,
    line: UInt = #line, fetch: @escaping @Sendable (Query) async throws -> Fetched<Value>
  ) throws(CacheError) -> Resource<Query, Value> {
    try make(
      name, version, (lifetime, staleIfError, staleWhileRevalidate), singleFlight, codec, (file, line),
      text: { String(key($0)) }, fetch: fetch)
  }

  private func make<Query: Sendable, Value: Sendable>(
    _ name: String, _ version: Int, _ times: (fresh: Duration?, ifError: Duration?, whileRevalidate: Duration?),
    _ singleFlight: SingleFlight, _ codec: PayloadCodec<Value>, _ place: (file: StaticString, line: UInt),
    text: @escaping @Sendable (Query) throws(CacheError) -> String,
    fetch: @escaping @Sendable (Query) async throws -> Fetched<Value>
  ) throws(CacheError) -> Resource<Query, Value> {
    try resources.add(name, version: version, codec: codec, at: place)
    let standard = services.rules.freshness
    return Resource(
      cache: self, name: name, version: version,
      freshness: FreshnessPolicy(
        timeToLive: times.fresh ?? standard.timeToLive, staleIfError: times.ifError ?? standard.staleIfError,
        staleWhileRevalidate: times.whileRevalidate ?? standard.staleWhileRevalidate),
      singleFlight: singleFlight, codec: codec, text: text, fetch: fetch)
  }

  private static func json(_ query: some Encodable) throws(CacheError) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      return String(decoding: try encoder.encode(query), as: UTF8.self)
    } catch {
      throw CacheError(.invalidRequest, "a query cannot be encoded: \(error)", cause: error)
    }
  }
}

/// The resources and codecs of a cache: each name belongs to one place in the program.
final class ResourceRegistry: Sendable {
  /// The namespaces of everything else that a cache keeps.
  private static let reservedNames = [ValueKey.resource] + CacheKey.reservedNamespaces

  private let places = Mutex<[String: String]>([:])

  /// Notes that a resource is made at a place in the program.
  ///
  /// - Throws: `CacheError`: `invalidKey`, see `Cache.resource`.
  func add<Value>(
    _ name: String, version: Int, codec: PayloadCodec<Value>, at place: (file: StaticString, line: UInt)
  ) throws(CacheError) {
    let place = "\(place.file):\(place.line)"
    if Self.reservedNames.contains(name) {
      throw CacheError(
        .invalidKey, "\(place): a resource cannot be called '\(name)'", hint: "the cache itself uses that name")
    }
    do throws(CacheError) {
      _ = try CacheKey(for: ResourceRequest(name: name, query: "", version: version))
    } catch {
      throw CacheError(.invalidKey, "\(place): \(error.message)", hint: error.hint, cause: error)
    }
    if let (file, line) = codec.place {
      // Not the name of the type: two modules can have types of one name.
      try add(
        "\(codec.identifier) \(ObjectIdentifier(Value.self))",
        "codecs of \(Value.self) are called '\(codec.identifier)'", at: "\(file):\(line)")
    }
    try add("\(name) \(version)", "resources are called '\(name)'", at: place)
  }

  private func add(_ name: String, _ what: String, at place: String) throws(CacheError) {
    let other = places.withLock { places in
      let other = places[name]
      if other == nil { places[name] = place }
      return other
    }
    guard let other, other != place else { return }
    throw CacheError(
      .invalidKey, "two \(what): one is made at \(other), the other at \(place)",
      hint: "give one of them another name, or make it in one place")
  }
}
