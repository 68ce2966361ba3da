public import ResponseCache

/// Checks that a resource behaves as one should: its values come back unchanged, two queries have two entries, it sends
/// requests to its origin only if necessary, and it serves a stale value if the origin fails.
///
///     try await checkResource(queries: ("Bern", "Quito"), values: (bern, quito)) { cache, fetch in
///       try cache.resource("weather", freshFor: .seconds(600), fetch: fetch)
///     }
///
/// It needs no network and no time: the cache is in memory, and the clock is set.
///
/// - Parameters:
///   - queries: two different queries.
///   - values: the origin's values for them.
///   - makeResource: makes the resource in the cache that it is given, over the closure that it is given.
/// - Throws: `ResourceDefects`, if the resource does not behave; any other error comes from the resource itself.
public func checkResource<Query: Sendable & Equatable, Value: Sendable & Equatable>(
  queries: (Query, Query), values: (Value, Value),
  _ makeResource: (Cache, @escaping @Sendable (Query) async throws -> Value) throws -> Resource<Query, Value>
) async throws {
  let (first, second) = queries
  let origin = FakeOrigin { (query: Query) in query == first ? values.0 : values.1 }
  try await check(first, values.0, other: (second, values.1), origin, makeResource)
}

/// Checks a resource without a query; otherwise like `checkResource(queries:values:_:)`.
///
///     try await checkResource(value: rates) { cache, fetch in try cache.resource("rates", fetch: fetch) }
///
/// - Parameters:
///   - value: the origin's value.
///   - makeResource: makes the resource in the cache that it is given, over the closure that it is given.
/// - Throws: `ResourceDefects`, if the resource does not behave; any other error comes from the resource itself.
public func checkResource<Value: Sendable & Equatable>(
  value: Value, _ makeResource: (Cache, @escaping @Sendable () async throws -> Value) throws -> Resource<Void, Value>
) async throws {
  try await check((), value, other: nil, FakeOrigin { (_: Void) in value }) { cache, fetch in
    try makeResource(cache) { try await fetch(()) }
  }
}

private func check<Query: Sendable, Value: Sendable & Equatable>(
  _ query: Query, _ value: Value, other: (query: Query, value: Value)?, _ origin: FakeOrigin<Query, Value>,
  _ makeResource: (Cache, @escaping @Sendable (Query) async throws -> Value) throws -> Resource<Query, Value>
) async throws {
  let clock = ManualClock()
  let cache = try await Cache.inMemory(clock: clock)
  let resource = try makeResource(cache) { try await origin.fetch($0) }
  let check = ResourceCheck(
    resource: resource, origin: origin, clock: clock, query: query, value: value, other: other)
  let defects = try await check.run()
  try await cache.close()
  if !defects.isEmpty { throw ResourceDefects(descriptions: defects) }
}

/// The defects of a resource.
public struct ResourceDefects: Error, CustomStringConvertible {
  /// Each defect in one line.
  public let descriptions: [String]

  /// The defects, one a line.
  public var description: String { descriptions.joined(separator: "\n") }
}

private struct ResourceCheck<Query: Sendable, Value: Sendable & Equatable> {
  struct OriginFailure: Error {}

  let resource: Resource<Query, Value>
  let origin: FakeOrigin<Query, Value>
  let clock: ManualClock
  let query: Query
  let value: Value
  /// Another query, if there can be one.
  let other: (query: Query, value: Value)?

  func run() async throws -> [String] {
    var defects: [String] = []
    defects += try await requests(1, "the first fetch") { try await resource(query) == value }
    defects += try await requests(0, "a fetch of a fresh entry") { try await resource(query) == value }
    if let other {
      defects += try await requests(1, "a fetch of another query") { try await resource(other.query) == other.value }
      defects += try await requests(0, "the first query again") { try await resource(query) == value }
    }
    defects += try await requests(1, "a fetch after remove(_:)") {
      try await resource.remove(query)
      return try await resource(query) == value
    }
    // Without requests, the next check would wait for one forever.
    if !defects.isEmpty { return defects }
    if resource.singleFlight != .off {
      defects += try await requests(1, "ten fetches at the same time") { try await tenAtOnce() }
    }
    let freshness = resource.freshness
    // A stale entry that can be served first is revalidated in the background: go past that time.
    clock.advance(by: freshness.timeToLive + freshness.staleWhileRevalidate)
    if freshness.staleIfError > freshness.staleWhileRevalidate {
      origin.fail(with: OriginFailure())
      defects += try await requests(1, "a fetch of a stale entry from an origin that fails") {
        try await resource(query) == value
      }
      origin.fail(with: nil)
    }
    defects += try await requests(1, "a fetch of a stale entry") { try await resource(query) == value }
    if freshness.staleWhileRevalidate <= .zero {
      defects += try await requests(1, "a fetch after invalidate(_:)") {
        try await resource.invalidate(query)
        return try await resource(query) == value
      }
    }
    return defects
  }

  /// Fetches without an entry, with an origin that responds only once the first request is there.
  private func tenAtOnce() async throws -> Bool {
    try await resource.remove(query)
    let arrived = origin.queries.count + 1
    origin.hold()
    return try await withThrowingTaskGroup(of: Bool.self) { group in
      for _ in 0..<10 { group.addTask { try await resource(query) == value } }
      await origin.arrival(of: arrived)
      origin.release()
      return try await group.reduce(true) { $0 && $1 }
    }
  }

  /// The defects if `body`, which does `what`, does not return `true` or does not make `count` requests.
  private func requests(_ count: Int, _ what: String, _ body: () async throws -> Bool) async throws -> [String] {
    let before = origin.queries.count
    var defects: [String] = []
    if try await !body() { defects.append("\(what) returned another value than the origin's") }
    let made = origin.queries.count - before
    if made != count { defects.append("\(what) made \(made) requests instead of \(count)") }
    return defects
  }
}
