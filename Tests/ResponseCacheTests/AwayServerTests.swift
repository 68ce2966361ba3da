import MemoryStorage
import ResponseCache
import ResponseCacheTesting
import StorageSPI
import Synchronization
import Testing

/// A program starts while the server of its cache is away.
@Suite struct AwayServerTests {
  /// The memory engine behind a server that may be away.
  final class RemotePlugin: StoragePlugin {
    struct State {
      var isAway = true
      var attempts = 0
    }

    let state = Mutex(State())
    var declaration: EngineDeclaration { MemoryPlugin().declaration }

    func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
      let isAway = state.withLock { state in
        state.attempts += 1
        return state.isAway
      }
      if isAway { throw CacheError(.unreachable, "the server is away") }
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

  private final class Warned: Sendable {
    private let list = Mutex<[CacheError.Code]>([])

    var codes: [CacheError.Code] { list.withLock { $0 } }

    func add(_ error: CacheError) { list.withLock { $0.append(error.code) } }
  }
}
