import Foundation
import EngineAPI

@testable import CachectlTool
@testable import CacheConfiguration

/// The built-in engines, one more with every kind of option, and files in memory.
enum Fixtures {
  static let engines = PluginCatalogue.standard.declarations
  static let sections = Cachectl().sections
  /// Every key, with its default.
  static let keys = loader(engines: engines).declared.settings

  /// A library of the engine `server`, in the folder that is looked into by default.
  static let serverLibrary = "/home/ada/.local/lib/cachectl/plugins/libcachectl-server.so"

  static let server = engine(
    "server",
    [
      EngineOption("url", .text, default: .text("redis://127.0.0.1:6379"), help: "where it is"),
      EngineOption("password", .text, help: "what it wants to hear", isSecret: true),
      EngineOption("maxRetryCount", .integer(0...9), default: .integer(3), help: "how often"),
      EngineOption("useTLS", .boolean, default: .boolean(false), help: "whether to encrypt"),
    ])

  static func engine(_ name: String, _ options: [EngineOption]) -> EngineDeclaration {
    EngineDeclaration(name: name, version: "1", summary: "for tests", capabilities: [], options: options)
  }

  /// The path of the user's own file.
  static let file = "/home/ada/.config/cachectl/config.json"

  /// A loader over files in memory, in the directory /project of a user who lives in /home/ada.
  static func loader(
    _ files: [String: String] = [:], environment: [String: String] = [:],
    engines: [EngineDeclaration] = engines + [server], libraries: EngineLibraries = EngineLibraries()
  ) -> ConfigurationLoader {
    ConfigurationLoader(
      engines: engines, sections: sections, environment: EnvironmentVariables(environment),
      workingDirectory: "/project", userHome: "/home/ada", libraries: libraries,
      readFile: { path in files[path].map { Array($0.utf8) } })
  }

  /// Libraries at the given paths, whose engines have the options of `server`. `load` is called before each library is
  /// loaded.
  static func libraries(
    _ paths: [String], _ load: @escaping @Sendable (String) throws(CacheError) -> Void = { _ in }
  ) -> EngineLibraries {
    var files = FakeFiles()
    for path in paths { files.files[path] = .file() }
    return EngineLibraries(files: files) { library throws(CacheError) in
      try load(library.path)
      return NoPlugin(declaration: engine(library.name, server.options))
    }
  }

  /// Returns the mistakes in a file with this text.
  static func problems(_ text: String, environment: [String: String] = [:]) -> [ConfigurationError] {
    loader([file: text], environment: environment).problems()
  }

  /// A plugin that opens nothing.
  struct NoPlugin: StoragePlugin {
    let declaration: EngineDeclaration

    func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
      throw CacheError(.unsupported, "for tests")
    }
  }

  static var exampleURL: URL {
    URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "config.example.json")
  }
}

extension ConfigurationLoader {
  /// All mistakes in the configuration.
  func problems(_ flags: ConfigurationFlags = ConfigurationFlags()) -> [ConfigurationError] { read(flags).problems }
}
