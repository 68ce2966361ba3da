internal import CacheBase
public import CacheCore
public import EngineAPI

/// The tool's own configuration.
extension ConfigurationLoader {
  /// Creates a loader.
  ///
  /// - Parameters:
  ///   - engines: the declarations of the built-in engines, the default first.
  ///   - sections: the sections of the resources.
  ///   - policies: the eviction policies, the default first.
  ///   - environment: the environment variables.
  ///   - workingDirectory: the absolute path of the current directory.
  ///   - userHome: the absolute path of the user's home folder; the root if there is none.
  ///   - libraries: finds and loads named engines that are not built in.
  ///   - readFile: reads a file; see `ConfigurationFiles.contents(of:)`.
  public init(
    engines: [EngineDeclaration], sections: [any ConfigurationSection.Type] = [],
    policies: [EvictionPolicy] = EvictionPolicy.standard, environment: EnvironmentVariables,
    workingDirectory: String, userHome: String, libraries: EngineLibraries = EngineLibraries(),
    readFile: @escaping ReadFile
  ) {
    self.init(
      engines: engines.map { DeclaredEngine($0.name, $0) }, sections: sections, policies: policies,
      environment: environment, workingDirectory: workingDirectory, userHome: userHome, libraries: libraries,
      readFile: readFile)
  }

  /// The same loader, whose engines and sections are declared only if they are needed.
  init(
    engines: [DeclaredEngine], sections: @autoclosure @escaping @Sendable () -> [any ConfigurationSection.Type],
    policies: [EvictionPolicy], environment: EnvironmentVariables, workingDirectory: String, userHome: String,
    libraries: @autoclosure @escaping @Sendable () -> EngineLibraries, readFile: @escaping ReadFile
  ) {
    self.init(
      names: ConfigurationNames(
        "cachectl", prefix: "CACHECTL_",
        arguments: (file: "--config", home: "--home", engine: "--backend", setting: "--set"),
        missingFileHint: "name one that exists, or make it: cachectl config init"),
      engines: engines, first: [Configuration.General.self, TieredSettings.self, Configuration.Plugins.self],
      common: [Configuration.Cache.self], sections: [Configuration.Network.self] + sections(), policies: policies,
      environment: environment, workingDirectory: workingDirectory, userHome: userHome,
      loadEngines: { libraries().engines($0, $1) }, readFile: readFile)
  }
}

/// The documents that are derived from the declarations.
extension ConfigurationLoader {
  /// The JSON Schema (draft 2020-12) of the file, with a line feed at its end. It covers everything that JSON Schema can
  /// express; what it cannot is in the descriptions.
  var schema: String {
    let head: [JSONValue.Member] = [
      .init("$schema", "https://json-schema.org/draft/2020-12/schema"), .init("title", "cachectl configuration"),
    ]
    return JSONText.text(.object(head + schema(of: "", declared)), .pretty) + "\n"
  }

  /// The schema of the object at `section`.
  private func schema(of section: String, _ reader: SectionReader) -> [JSONValue.Member] {
    var properties: [JSONValue.Member] = []
    if section.isEmpty { properties.append(.init(SectionReader.schemaKey, ["type": "string"])) }
    for name in reader.children(of: section) {
      let path = section.isEmpty ? name : "\(section).\(name)"
      let members = reader[path].map(schema) ?? schema(of: path, reader)
      properties.append(.init(name, .object(members)))
    }
    var members: [JSONValue.Member] = [.init("type", "object"), .init("additionalProperties", false)]
    if section == Setting.engines {
      // The keys of an engine in a library are unknown until the library is loaded.
      members.append(.init("patternProperties", ["^[a-z][a-z0-9]{0,31}$": ["type": "object"]]))
    }
    members.append(.init("properties", .object(properties)))
    return members
  }

  private func schema(of key: Setting) -> [JSONValue.Member] {
    guard case .object(var members) = key.kind.schema else { return [] }
    members.append(.init("description", .string("\(key.help) (\(key.kind.allowed))")))
    if let value = key.json { members.append(.init("default", value)) }
    return members
  }

  /// The example file with every key and its default, with a line feed at its end. It is a valid configuration.
  var example: String {
    let values = declared.settings.compactMap { key in key.json.map { (path: key.path, value: $0) } }
    return JSONText.text(.nested(values), .pretty) + "\n"
  }
}
