import CachectlTool
import FetchVocabulary
import Foundation
import ServiceTokens
import ServiceTokensDomain
import EngineAPI
import Synchronization

/// A folder of one test's own, with a home for stores and a clock that the test moves.
final class TestHome: Sendable {
  let folder: String
  let clock = TestClock()

  var home: String { folder + "/home" }

  init() throws {
    folder = NSTemporaryDirectory() + "service-tokens-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  /// Opens the store of an engine as the tool would, gives its container to `body`, and closes it.
  func withTokens<Output>(
    _ backend: String, _ body: (ServiceTokensDIContainer) async throws -> Output
  ) async throws -> Output {
    let store = try await openStore(backend)
    let output = try await body(ServiceTokensDIContainer(store: store))
    try await store.close()
    return output
  }

  func openStore(_ backend: String) async throws -> OpenStore {
    let loader = ConfigurationLoader(
      engines: PluginCatalogue.standard.declarations, environment: [:], workingDirectory: folder, userHome: folder,
      readFile: { _ in nil })
    let configuration = try loader.load(ConfigurationFlags(backend: backend, home: home))
    return try await AppDIContainer(configuration: configuration, clock: clock).openStore()
  }
}

/// A clock that changes only when a test moves it.
final class TestClock: WallClock {
  private let time = Mutex(Timestamp(milliseconds: 1_700_000_000_000))

  var now: Timestamp { time.withLock { $0 } }

  func advance(by duration: Duration) { time.withLock { $0 = $0.advanced(by: duration) } }
}

extension ServiceToken {
  /// A token whose value tells it from others.
  static func sample(_ name: String, expiresAt: Duration? = nil) throws -> ServiceToken {
    try ServiceToken(name: name, value: try TokenValue("secret-of-\(name)"), expiresAt: expiresAt)
  }
}

/// The engines that are part of the library, and the engines that keep what they store.
enum Backends {
  static let all = ["memory", "sqlite", "lmdb", "plist"]
  static let persistent = ["sqlite", "lmdb", "plist"]
}
