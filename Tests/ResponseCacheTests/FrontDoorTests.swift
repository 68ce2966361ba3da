import CacheBase
import CacheCore
import EngineAPI
import Foundation
import LMDBStorage
import MemoryStorage
import PlistStorage
import ResponseCache
import ResponseCacheTesting
import SQLiteStorage
import Synchronization
import Testing

/// The ten lines that a reader sees first, over every engine.
@Suite struct FrontDoorTests {
  struct User: Codable, Equatable {
    let id: Int
    let name: String
  }

  static let engines: [(name: String, location: @Sendable (String) -> StorageLocation)] = [
    ("memory", { _ in .memory }), ("plist", { .plist(path: $0 + "/plist") }),
    ("sqlite", { .sqlite(path: $0 + "/sqlite") }), ("lmdb", { .lmdb(path: $0 + "/lmdb") }),
  ]

  @Test(arguments: engines.map(\.name)) func theTenLines(engine: String) async throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let api = FakeOrigin { (city: String) in "rain in \(city)" }
    var shown: [String] = []

    let location = try #require(Self.engines.first { $0.name == engine }).location(folder.path)
    let cache = try await Cache(location)
    try await cache.set(User(id: 42, name: "Ann"), for: "user/42", expiresAfter: .seconds(3600))
    let user = try await cache.value(User.self, for: "user/42")
    let weather = try cache.resource("weather") { (city: String) in try await api.fetch(city) }
    let now = try await weather("Bern")
    for try await snapshot in weather.snapshots(for: "Bern", policy: .cachedThenNetwork) {
      shown.append(snapshot.value)
    }
    try await cache.close()

    #expect(user == User(id: 42, name: "Ann"))
    #expect(now == "rain in Bern")
    #expect(shown == ["rain in Bern", "rain in Bern"])
    #expect(api.queries == ["Bern", "Bern"])
  }

  @Test(arguments: engines.map(\.name).filter { $0 != "memory" })
  func aCacheOutlivesItsProgram(engine: String) async throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let location = try #require(Self.engines.first { $0.name == engine }).location(folder.path)
    let first = try await Cache(location)
    try await first.set(["a", "b"], for: "any text: ü / \u{1F600}\n")
    try await first.close()
    let second = try await Cache(location)
    #expect(try await second.value([String].self, for: "any text: ü / \u{1F600}\n") == ["a", "b"])
    #expect(try await second.keys() == ["any text: ü / \u{1F600}\n"])
    try await second.close()
  }

  @Test(arguments: engines.map(\.name).filter { $0 != "memory" })
  func aStoreIsRemovedAndCreatedAgain(engine: String) async throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let location = try #require(Self.engines.first { $0.name == engine }).location(folder.path)
    let first = try await Cache(location)
    try await first.set(1, for: "number")
    try await first.close()
    try await location.removeStore()
    let second = try await Cache(location)
    #expect(try await second.statistics().entries == 0)
    try await second.close()
  }

  @Test func theErrorOfADamagedStoreSaysHowToStartAgain() async throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let location = StorageLocation.sqlite(path: folder.path + "/cache.sqlite")
    try await Cache(location).close()
    try Data(repeating: 7, count: 5_000).write(to: URL(filePath: folder.path + "/cache.sqlite"))
    let error = await #expect(throws: CacheError.self) { _ = try await Cache(location) }
    #expect(error?.code == .damaged)
    #expect(error?.hint.contains("removeStore") == true)
    try await location.removeStore()
    try await Cache(location).close()
  }

  @Test func aStoreThatEndedAProcessIsNotOpenedUntilItIsRemoved() async throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let location = StorageLocation.lmdb(path: folder.path + "/lmdb")
    try await Cache(location).close()
    let mark = folder.path + "/lmdb.crashed"
    #expect(FileManager.default.createFile(atPath: mark, contents: nil))
    let error = await #expect(throws: CacheError.self) { _ = try await location.open(clock: SystemWallClock()) }
    #expect(error?.code == .damaged && error?.hint.contains("removeStore") == true)
    try await location.removeStore()
    #expect(!FileManager.default.fileExists(atPath: mark))
    try await location.open(clock: SystemWallClock()).close()
  }

  @Test func aLocalStoreThatEndedAProcessIsRemovedAndOneInUseKeepsTheRemoteOneInPlace() async throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let local = folder.path + "/local"
    let location = StorageLocation(
      TieredLayer(over: PlistPlugin(), local: .lmdb(path: local)), ["path": .text(folder.path + "/remote")])
    let first = try await Cache(location)
    try await first.set(1, for: "number")
    try await first.close()
    #expect(FileManager.default.createFile(atPath: local + ".crashed", contents: nil))
    let second = try await Cache(location)
    #expect(try await second.value(Int.self, for: "number") == 1)
    #expect(!FileManager.default.fileExists(atPath: local + ".crashed"))
    let configuration = try location.configuration(SystemWallClock())
    let error = await #expect(throws: CacheError.self) {
      _ = try await location.plugin.removeStore(configuration, movingAside: ".damaged")
    }
    #expect(error?.code == .busy && !FileManager.default.fileExists(atPath: folder.path + "/remote.damaged"))
    try await second.close()
  }

  /// A file or directory with neither mark of a store belongs to someone else. No advice says to remove it.
  @Test(arguments: engines.map(\.name).filter { $0 != "memory" })
  func filesThatAreNotAStoreAreNeitherOpenedNorRemoved(engine: String) async throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let location = try #require(Self.engines.first { $0.name == engine }).location(folder.path)
    let file = URL(filePath: folder.path + "/" + (engine == "sqlite" ? engine : engine + "/package.json"))
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data("thesis".utf8).write(to: file)
    let before = try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
    let opening = await #expect(throws: CacheError.self) { _ = try await Cache(location) }
    #expect(opening?.code == .cannotCreate && opening?.hint.contains("removeStore") == false, "\(opening as Any)")
    let removing = await #expect(throws: CacheError.self) { try await location.removeStore() }
    #expect(removing?.code == .cannotCreate, "\(removing as Any)")
    #expect(try Data(contentsOf: file) == Data("thesis".utf8))
    #expect(try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted() == before)
  }

  /// These are names for a database in memory, or URIs. The user does not mean a file of that name.
  @Test(arguments: ["", ":memory:", "file:cache.sqlite", "file::memory:?cache=shared"])
  func aNameThatIsNotAPathIsRefused(path: String) async throws {
    for location in [StorageLocation.sqlite(path: path), .lmdb(path: path), .plist(path: path)] {
      let error = await #expect(throws: CacheError.self) { _ = try await Cache(location) }
      #expect(error?.code == .invalidOption && error?.hint.contains("the engine memory") == true, "\(error as Any)")
      let removing = await #expect(throws: CacheError.self) { try await location.removeStore() }
      #expect(removing?.code == .invalidOption)
    }
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test(
    arguments: engines.map(\.name), [StoreLimits(maxEntries: 0), StoreLimits(maxBytes: 0), StoreLimits(maxEntries: -1)])
  func limitsThatAllowNoEntryAreAnError(engine: String, limits: StoreLimits) async throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let location = try #require(Self.engines.first { $0.name == engine }).location(folder.path)
    let error = await #expect(throws: CacheError.self) { _ = try await Cache(location, limits: limits) }
    #expect(error?.code == .invalidOption)
    #expect(error?.hint.contains("nil for no limits") == true)
  }

  @Test func twoCachesOfTwoLocationsDoNotMeet() async throws {
    let (one, other) = (try await Cache.inMemory(), try await Cache.inMemory())
    try await one.set(1, for: "number")
    #expect(try await other.value(Int.self, for: "number") == nil)
  }

  @Test func aClosedCacheFailsAndHasNoEntriesMissing() async throws {
    let cache = try await Cache.inMemory()
    try await cache.set(1, for: "number")
    try await cache.close()
    let error = await #expect(throws: CacheError.self) { try await cache.value(Int.self, for: "number") }
    #expect(error?.code == .closed)
  }
}

/// Paths of stores.
@Suite struct LocationPathTests {
  /// An engine whose error has the place of the store that it was to open.
  private struct SpeakingPlugin: StoragePlugin {
    let declaration = EngineDeclaration(
      name: "speaking", version: "1", summary: "opens nothing", capabilities: [],
      options: [EngineOption("path", .path, help: "the file"), EngineOption("note", .text, help: "anything")])

    func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
      throw CacheError(.unsupported, try configuration.text("path") + " " + configuration.text("note"))
    }
  }

  @Test(arguments: [
    ("~/x", HomeFolder.path + "/x"), ("~", HomeFolder.path), ("a~/x", "a~/x"), ("~ann/x", "~ann/x"), ("/~/x", "/~/x"),
  ])
  func aLeadingTildeIsTheHomeFolder(path: String, opened: String) async throws {
    let location = StorageLocation(SpeakingPlugin(), ["path": .text(path), "note": .text("~/x")])
    let error = await #expect(throws: CacheError.self) { _ = try await Cache(location) }
    #expect(error?.message == opened + " ~/x")
  }

  @Test(arguments: [("~/x", "/home/ann/x"), ("~", "/home/ann"), ("x", "x"), ("~x", "~x")])
  func theHomeFolderReplacesTheTilde(path: String, expanded: String) {
    #expect(HomeFolder.expanded(path, home: "/home/ann") == expanded)
    #expect(HomeFolder.expanded("~/x", home: "/") == "/x")
    #expect(HomeFolder.expanded("~", home: "/") == "/")
  }
}

/// A folder for one test.
struct TemporaryFolder {
  let path: String

  init() throws {
    var template = Array(((getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp") + "/front-door-XXXXXX").utf8CString)
    guard let made = mkdtemp(&template) else {
      throw CacheError(.cannotCreate, "there is no temporary folder: \(String(cString: strerror(errno)))")
    }
    path = String(cString: made)
  }

  func remove() { Folders.remove(path) }
}

/// A program starts while the server of its cache is away.
@Suite struct AwayServerTests {
  /// The memory engine behind a server that may be away.
  final class RemotePlugin: StoragePlugin {
    struct State {
      var isAway = true
      var attempts = 0
      /// The next attempt waits until this stream ends.
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
    let warned = Warnings()
    let cache = try await Cache(StorageLocation(plugin), clock: clock, warn: { warned.add($0) })
    #expect(warned.codes == [.unreachable])
    let weather = try cache.resource("weather") { (city: String) in "rain in \(city)" }
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

}
