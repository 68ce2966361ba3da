internal import CacheCore
internal import MemoryStorage
public import ResponseCache
public import EngineAPI

// Tests of expiry set the time.
@_exported public import class EngineConformance.ManualClock

extension Cache {
  /// An empty cache in memory, with the time of `clock`.
  ///
  ///     let clock = ManualClock()
  ///     let cache = try await Cache.inMemory(clock: clock)
  public static func inMemory(
    clock: any WallClock = ManualClock(), limits: StoreLimits? = .standard,
    warn: @escaping @Sendable (CacheWarning) -> Void = { _ in },
    observe: (@Sendable (CacheEvent) -> Void)? = nil
  ) async throws -> Cache {
    try await Cache(.memory, limits: limits, clock: clock, warn: warn, observe: observe)
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

/// An origin for tests, which responds, waits or fails as the test says, and counts its requests.
///
///     let origin = FakeOrigin { (city: String) in Weather(city: city, celsius: 9) }
///     let weather = try cache.resource("weather", fetch: origin.fetch)
///     origin.fail(with: NoNetwork())
///     ...
///     #expect(origin.queries == ["Bern"])
///
/// With requests as queries and responses as values it is the server behind `Cache.response(to:over:)`.
public final class FakeOrigin<Query: Sendable, Value: Sendable>: Sendable {
  private struct State {
    var answer: @Sendable (Query) throws -> Value
    var failure: (any Error)?
    var queries: [Query] = []
    var isHeld = false
    /// How often requests were released.
    var releases = 0
  }

  private let state: TaskMonitor<State>

  /// An origin that responds with the result of `answer` for a query.
  public init(_ answer: @escaping @Sendable (Query) throws -> Value) {
    state = TaskMonitor(State(answer: answer))
  }

  /// The queries received so far, in order.
  public var queries: [Query] { state.withLock { $0.queries } }

  /// Responds with the result of `answer` for a query from now on.
  public func answer(with answer: @escaping @Sendable (Query) throws -> Value) {
    state.withLock { state in
      state.answer = answer
      state.failure = nil
    }
  }

  /// Fails every request with `error` from now on; with `nil` it responds again.
  public func fail(with error: (any Error)?) { state.withLock { $0.failure = error } }

  /// Keeps every request waiting from now on, until `release()`, even if its task is cancelled.
  public func hold() { state.withLock { $0.isHeld = true } }

  /// Lets the waiting requests and all later ones continue.
  public func release() {
    state.withLock { state in
      state.isHeld = false
      state.releases += 1
    }
    state.signalAll()
  }

  /// Waits until `count` requests have arrived since the origin was made, or the calling task is cancelled, as it is when
  /// a test runs out of time.
  public func arrival(of count: Int) async { _ = await state.wait { $0.queries.count >= count ? true : nil } }

  /// Responds to `query`: what a resource under test calls.
  public func fetch(_ query: Query) async throws -> Value {
    let releases = state.withLock { state in
      state.queries.append(query)
      return state.isHeld ? state.releases : nil
    }
    state.signalAll()
    if let releases { await state.waitAlways { $0.releases > releases } }
    try Task.checkCancellation()
    let (answer, failure) = state.withLock { ($0.answer, $0.failure) }
    if let failure { throw failure }
    return try answer(query)
  }
}

extension FakeOrigin: DataTransferService where Query == HTTP.Request, Value == HTTP.Response {
  /// Responds to `request` like a server; any error but a `CacheError` is the failure to reach it.
  public func transfer(_ request: HTTP.Request) async throws(CacheError) -> HTTP.Response {
    do {
      return try await fetch(request)
    } catch is CancellationError {
      throw .cancelled
    } catch let error as CacheError {
      throw error
    } catch {
      throw CacheError(.originUnreachable, "\(request.url) cannot be reached: \(error)", cause: error)
    }
  }
}
