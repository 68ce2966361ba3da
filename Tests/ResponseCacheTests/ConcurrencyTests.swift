import CacheCore
import EngineAPI
import HTTPCaching
import LMDBStorage
import MemoryStorage
import ResponseCache
import ResponseCacheTesting
import SQLiteStorage
import Synchronization
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Thousands of calls at once, and calls that are cancelled at every step.
@Suite(.timeLimit(.minutes(30))) struct ConcurrencyTests {
  private static let (calls, queries) = (10_000, 100)

  @Test(
    arguments: [
      ("sqlite", SingleFlight.acrossProcesses, 0), ("lmdb", .acrossProcesses, 10), ("memory", .off, 10),
    ])
  func tenThousandCallsAtOnce(engine: String, singleFlight: SingleFlight, cancelledPercent: Int) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "concurrency-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let location: StorageLocation =
      switch engine {
      case "sqlite": .sqlite(path: folder)
      case "lmdb": .lmdb(path: folder)
      default: .memory
      }
    let warnings = Warnings()
    let events = Mutex(0)
    let cache = try await Cache(
      location, clock: ManualClock(), warn: warnings.add, observe: { _ in events.withLock { $0 += 1 } })
    let origin = FakeOrigin { (number: Int) in number * number }
    let squares = try cache.resource("squares", singleFlight: singleFlight, fetch: origin.fetch)
    let cancelled = await withTaskGroup(of: Bool.self) { group in
      for call in 0..<Self.calls {
        let query = call % Self.queries
        group.addTask {
          let task = Task { try await squares(query) }
          if call / Self.queries % 100 < cancelledPercent {
            for _ in 0..<call % 7 { await Task.yield() }
            task.cancel()
          }
          switch await task.result {
          case .success(let square):
            #expect(square == query * query)
            return false
          case .failure(let error):
            #expect(error is CancellationError && cancelledPercent > 0, "\(error)")
            return true
          }
        }
      }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(cancelled <= Self.calls * cancelledPercent / 100)
    #expect(events.withLock { $0 } == Self.calls)
    if cancelledPercent == 0 { #expect(origin.queries.sorted() == Array(0..<Self.queries)) }
    #expect(warnings.codes.isEmpty)
    await cache.settled()
    let statistics = try await cache.statistics()
    #expect(statistics.namespaces.mapValues(\.entries) == ["squares": Self.queries], "no lease is left")
    try await cache.close()
  }

  /// A call in a store, and whether it succeeded.
  struct Call: Sendable, CustomTestStringConvertible {
    let name: String
    let make: @Sendable (Cache, FakeOrigin<Int, Int>, ManualClock) async throws -> Bool

    var testDescription: String { name }

    static func numbers(_ cache: Cache, _ origin: FakeOrigin<Int, Int>) throws -> Resource<Int, Int> {
      try cache.resource(
        "numbers", freshFor: .seconds(10), staleWhileRevalidate: .seconds(10), fetch: origin.fetch)
    }

    static let all = [
      Call(name: "a miss") { cache, origin, _ in try await numbers(cache, origin)(1) == 1 },
      Call(name: "a stale entry that is revalidated in the background") { cache, origin, clock in
        clock.advance(by: .seconds(15))
        return try await numbers(cache, origin)(7) == 7
      },
      Call(name: "a stale entry") { cache, origin, clock in
        clock.advance(by: .seconds(50))
        return try await numbers(cache, origin)(7) == 7
      },
      Call(name: "cached, then network") { cache, origin, _ in
        var values: [Int] = []
        for try await snapshot in try numbers(cache, origin).snapshots(for: 7, policy: .cachedThenNetwork) {
          values.append(snapshot.value)
        }
        return values == [7, 7]
      },
      Call(name: "a value or a fetch") { cache, origin, _ in
        try await cache.value(for: "one") { try await origin.fetch(1) } == 1
      },
      Call(name: "set and value") { cache, _, _ in
        try await cache.set([1, 2], for: "two")
        return try await cache.value([Int].self, for: "two") == [1, 2]
      },
      Call(name: "values and removal") { cache, _, _ in
        try await cache.set(["a": 1, "b": 2])
        let values = try await cache.values(Int.self, for: ["a", "b"])
        return try await cache.removeAll(prefix: "a") == 1 && values == ["a": 1, "b": 2]
      },
      Call(name: "invalidation") { cache, origin, _ in
        let numbers = try numbers(cache, origin)
        try await numbers.invalidateAll()
        return try await numbers(7) == 7
      },
      Call(name: "a response") { cache, _, _ in
        let server = FakeOrigin { (_: HTTP.Request) in
          HTTP.Response(HTTP.ResponseHead(status: 200, fields: ["cache-control": "max-age=60"]), body: [1])
        }
        return try await cache.response(to: HTTP.Request(url: "http://server.example/"), over: server).body == [1]
      },
      Call(name: "everything is removed") { cache, _, _ in
        try await cache.removeAll()
        return try await cache.keys().isEmpty
      },
    ]
  }

  /// Cancels the task at the first call of the engine or the closure, then at the second one, and so on: it gets its
  /// result or a cancellation, no lease is left, and the same call succeeds afterwards.
  @Test(arguments: Call.all) func cancellingAtEachStepLeavesNothingBehind(call: Call) async throws {
    var step = 1
    while true {
      let steps = Steps()
      let clock = ManualClock()
      let origin = FakeOrigin { (number: Int) in number }
      let cache = try await Cache(SteppedLayer.location(steps), limits: nil, clock: clock)
      let seed = try Call.numbers(cache, origin)
      #expect(try await seed(7) == 7)
      origin.answer { number in
        steps.take()
        return number
      }
      let (begin, beginning) = AsyncStream.makeStream(of: Void.self)
      let task = Task {
        for await _ in begin {}
        return try await call.make(cache, origin, clock)
      }
      steps.begin(step) { task.cancel() }
      beginning.finish()
      let result = await task.result
      let isOver = !steps.end()
      switch result {
      case .success(let isRight): #expect(isRight, "cancelled at step \(step)")
      case .failure(let error):
        #expect(error is CancellationError || (error as? CacheError)?.code == .cancelled, "step \(step): \(error)")
      }
      await cache.settled()
      #expect(try await call.make(cache, origin, clock), "after a cancellation at step \(step)")
      await cache.settled()
      #expect(try await cache.statistics().namespaces["leases"] == nil, "after a cancellation at step \(step)")
      try await cache.close()
      if isOver { break }
      step += 1
    }
    #expect(step > 1)
  }
}

/// Counts the steps of a task, and cancels it at one of them.
private final class Steps: Sendable {
  private struct State {
    /// The number of steps before the one that is cancelled, and this one; `nil` if none are counted.
    var left: Int?
    var cancel: @Sendable () -> Void = {}
  }

  private let state = Mutex(State())

  /// Calls `cancel` at the step `number` from now on.
  func begin(_ number: Int, cancel: @escaping @Sendable () -> Void) {
    state.withLock { $0 = State(left: number, cancel: cancel) }
  }

  /// Notes a step.
  func take() {
    let cancel: (@Sendable () -> Void)? = state.withLock { state in
      guard let left = state.left, left > 0 else { return nil }
      state.left = left - 1
      return left == 1 ? state.cancel : nil
    }
    cancel?()
  }

  /// Ends the count, and returns whether the step was reached.
  func end() -> Bool {
    state.withLock { state in
      defer { state = State() }
      return state.left == 0
    }
  }
}

/// An engine in memory that other processes seem to share, each call of which is a step.
private struct SteppedLayer: EngineLayer {
  let base: any StoragePlugin
  let steps: Steps

  var declaration: EngineDeclaration { base.declaration.with(base.declaration.capabilities.union([.shared])) }

  static func location(_ steps: Steps) -> StorageLocation {
    StorageLocation(SteppedLayer(base: MemoryPlugin(), steps: steps))
  }

  func wrap(_ engine: any StorageEngine) -> any StorageEngine { SteppedEngine(base: engine, steps: steps) }
}

private final class SteppedEngine: WrappingEngine {
  let base: any StorageEngine
  private let steps: Steps

  init(base: any StorageEngine, steps: Steps) {
    self.base = base
    self.steps = steps
  }

  func read<Output: Sendable>(
    _ key: CacheKey, _ body: @Sendable (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) async throws(CacheError) -> Output? {
    steps.take()
    return try await base.read(key, body)
  }

  func apply(_ batch: WriteBatch) async throws(CacheError) {
    steps.take()
    try await base.apply(batch)
  }

  func scan(_ request: ScanRequest) async throws(CacheError) -> ScanPage {
    steps.take()
    return try await base.scan(request)
  }
}
