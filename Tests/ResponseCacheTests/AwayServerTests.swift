import MemoryStorage
import ResponseCache
import ResponseCacheTesting
import EngineAPI
import Synchronization
import Testing

/// A program starts while the server of its cache is away.
@Suite struct AwayServerTests {
  /// The memory engine behind a server that may be away.
  final class RemotePlugin: StoragePlugin {
    struct State {
      var isAway = true
      var attempts = 0
      /// Where the next attempt waits until it is let go.
      var held: AsyncStream<Void>?
    }

    let state = Mutex(State())
    let declaration = MemoryPlugin().declaration

    func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
      let held = state.withLock { state in
        state.attempts += 1
        return state.held
      }
      if let held { for await _ in held { break } }
      if state.withLock(\.isAway) { throw CacheError(.unreachable, "the server is away") }
      return try await MemoryPlugin().open(configuration)
    }
  }

  let clock = ManualClock()
  let plugin = RemotePlugin()

  @Test func theCacheWorksWhenItsServerIsBack() async throws {
    let warned = Warned()
    let cache = try await Cache(StorageLocation(plugin), clock: clock, warn: { warned.add($0) })
    #expect(warned.codes == [.unreachable])
    let weather = cache.resource("weather") { (city: String) in "rain in \(city)" }
    #expect(try await weather("Bern") == "rain in Bern")
    #expect(warned.codes.allSatisfy { $0 == .unreachable } && warned.codes.count > 1)
    let error = await #expect(throws: CacheError.self) { try await cache.set(1, for: "a") }
    #expect(error?.code == .unreachable)
    #expect(plugin.state.withLock { $0.attempts } == 1, "one attempt a second")

    plugin.state.withLock { $0.isAway = false }
    clock.advance(by: .seconds(1))
    try await cache.set(1, for: "a")
    #expect(try await cache.value(Int.self, for: "a") == 1)
    #expect(plugin.state.withLock { $0.attempts } == 2)
    let count = warned.codes.count
    #expect(try await weather("Bern") == "rain in Bern")
    #expect(warned.codes.count == count)
    try await cache.close()
    let closed = await #expect(throws: CacheError.self) { try await cache.set(1, for: "a") }
    #expect(closed?.code == .closed)
  }

  @Test func itIsClosedWhileItsServerIsAway() async throws {
    let cache = try await Cache(StorageLocation(plugin), clock: clock)
    try await cache.close()
    clock.advance(by: .seconds(1))
    let error = await #expect(throws: CacheError.self) { try await cache.set(1, for: "a") }
    #expect(error?.code == .closed && plugin.state.withLock { $0.attempts } == 1)
  }

  @Test func theLimitsHoldOnceItsServerIsBack() async throws {
    let cache = try await Cache(StorageLocation(plugin), limits: StoreLimits(maxEntries: 2), clock: clock)
    plugin.state.withLock { $0.isAway = false }
    for number in 1...4 {
      clock.advance(by: .seconds(1))
      try await cache.set(number, for: "\(number)")
    }
    #expect(try await cache.keys().sorted() == ["3", "4"])
  }

  /// Begins to write to `cache`, which finds its server silent until `release` gets an element.
  private func startAttempt(
    _ cache: Cache
  ) async -> (waiting: Task<Void, any Error>, release: AsyncStream<Void>.Continuation) {
    let (held, release) = AsyncStream.makeStream(of: Void.self)
    plugin.state.withLock { ($0.held, $0.isAway) = (held, false) }
    clock.advance(by: .seconds(1))
    let waiting = Task { try await cache.set(1, for: "a") }
    while plugin.state.withLock({ $0.attempts }) < 2 { await Task.yield() }
    return (waiting, release)
  }

  @Test func oneCallWaitsForASilentServer() async throws {
    let cache = try await Cache(StorageLocation(plugin), clock: clock)
    let (waiting, release) = await startAttempt(cache)
    for _ in 0..<3 {
      let error = await #expect(throws: CacheError.self) { try await cache.set(2, for: "a") }
      #expect(error?.code == .unreachable)
    }
    release.yield()
    try await waiting.value
    #expect(try await cache.value(Int.self, for: "a") == 1)
    #expect(plugin.state.withLock { $0.attempts } == 2)
  }

  @Test func aCacheThatIsClosedDuringAnAttemptStaysClosed() async throws {
    let cache = try await Cache(StorageLocation(plugin), clock: clock)
    let (waiting, release) = await startAttempt(cache)
    try await cache.close()
    release.yield()
    let error = await #expect(throws: CacheError.self) { try await waiting.value }
    #expect(error?.code == .closed)
  }

  private final class Warned: Sendable {
    private let list = Mutex<[CacheError.Code]>([])

    var codes: [CacheError.Code] { list.withLock { $0 } }

    func add(_ error: CacheError) { list.withLock { $0.append(error.code) } }
  }
}
