import CacheBase
import Foundation
import CacheConfiguration
import ResponseCacheConfiguration
import PlistStorage
import SQLiteStorage
import EngineAPI

/// A folder with the home of a user and a working folder, and programs that are started there.
struct TestProgram {
  let root = FileManager.default.temporaryDirectory.appending(path: "configured-\(UUID().uuidString)").path

  var workingFolder: String { root + "/work" }
  var userHome: String { root + "/home" }

  /// Removes what the programs have left behind.
  func remove() { Folders.remove(root) }

  /// Writes `text` to the file at `path`, seen from the root.
  func write(_ text: String, to path: String) throws {
    let file = URL(filePath: root + "/" + path)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
  }

  /// The configuration that the program called `name` finds.
  func configuration(
    _ name: String = "weather", engines: [any StoragePlugin] = [SQLitePlugin(), PlistPlugin()],
    sections: [any ConfigurationSection.Type] = [], settings: [String: String] = [:], file: String? = nil,
    home: String? = nil, environment: [String: String] = [:]
  ) throws(CacheError) -> CacheConfiguration {
    try CacheConfiguration(
      name, engines: engines, sections: sections, settings: settings, file: file, home: home,
      environment: EnvironmentVariables(environment), workingDirectory: workingFolder, userHome: userHome)
  }
}

/// An engine on a server, which several programs share. It opens nothing.
struct ServerPlugin: StoragePlugin {
  let declaration = EngineDeclaration(
    name: "server", version: "1", summary: "for tests", capabilities: [.shared],
    options: [
      EngineOption("url", .text, default: .text("tcp://127.0.0.1"), help: "where it is"),
      EngineOption("prefix", .storeName, default: .text("cache"), help: "what its keys begin with"),
      EngineOption("password", .text, help: "what it wants to hear", isSecret: true),
    ])

  func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine {
    throw CacheError(.unreachable, "there is no server")
  }
}
