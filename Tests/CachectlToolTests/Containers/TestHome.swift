import CacheDomain
import Foundation
import EngineConformance
import EngineAPI

@testable import CachectlTool
@testable import CacheConfiguration

/// A folder of one test's own, removed with everything in it when the test lets it go. The home inside it does not
/// exist at first, as on a new machine.
final class TestHome: Sendable {
  let folder: String
  let clock = ManualClock(Timestamp(milliseconds: 1_700_000_000_000))

  var home: String { folder + "/new/home" }

  init() throws {
    folder = NSTemporaryDirectory() + "composition-tests-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  /// The container for the configuration file `text`, in this home or in another one.
  func container(
    _ text: String, home: String? = nil, catalogue: PluginCatalogue = .builtIn, environment: [String: String] = [:]
  ) throws -> AppDIContainer {
    let loader = ConfigurationLoader(
      engines: PluginCatalogue.builtIn.declarations, sections: Fixtures.sections,
      environment: EnvironmentVariables(environment), workingDirectory: folder, userHome: folder,
      readFile: { path in path.hasSuffix("/config.json") ? Array(text.utf8) : nil })
    let flags = ConfigurationFlags(file: folder + "/config.json", home: home ?? self.home)
    return AppDIContainer(configuration: try loader.load(flags), catalogue: catalogue, clock: clock)
  }

  /// The container for the engine called `backend`, everything else as it is by default.
  func container(backend: String) throws -> AppDIContainer {
    try container(#"{"backend": "\#(backend)"}"#)
  }

  /// The paths of the files of stores, relative to the home.
  func storeFiles() throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: home).sorted().filter { path in
      let type = try FileManager.default.attributesOfItem(atPath: "\(home)/\(path)")[.type] as? FileAttributeType
      return type == .typeRegular && !path.hasSuffix(".uses") && !path.hasSuffix("/store.lock")
    }
  }
}

/// The snapshots of a fetch of cities through a container and its store.
func fetchCities(
  _ container: AppDIContainer, _ store: OpenStore, _ options: FetchOptions = FetchOptions()
) async throws -> [Snapshot<CitiesPage>] {
  var snapshots: [Snapshot<CitiesPage>] = []
  let useCase = try container.context(store).makeFetchCitiesUseCase()
  for try await snapshot in useCase.execute(CitiesQuery(), options: options) { snapshots.append(snapshot) }
  return snapshots
}

/// The built-in engines whose stores are on this machine, and those of them that keep what they store.
enum Backends {
  static let declarations = PluginCatalogue.builtIn.declarations.filter { !$0.isOnServer }
  static let all = declarations.map(\.name)
  static let persistent = declarations.filter { $0.capabilities.contains(.persistent) }.map(\.name)
}
