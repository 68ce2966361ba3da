internal import CacheCore
internal import EngineAPI

extension ConfigurationNames {
  /// The names of the tool's own configuration.
  static var cachectl: ConfigurationNames {
    ConfigurationNames(
      "cachectl", prefix: "CACHECTL_",
      arguments: Arguments(file: "--config", home: "--home", engine: "--backend", setting: "--set"),
      missingFileHint: "name one that exists, or make it: cachectl config init")
  }
}

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
      names: .cachectl, engines: engines, sections: Configuration.sections + sections, policies: policies,
      environment: environment, workingDirectory: workingDirectory, userHome: userHome,
      loadEngines: { libraries.engines($0, $1) }, readFile: readFile)
  }

  /// The library among `libraries` of the engine that `flags.backend` names, without loading it; `nil` if the engine is
  /// built in.
  ///
  /// - Throws: `ConfigurationError`: the configuration has a mistake, or there is no such library.
  public func library(
    _ flags: ConfigurationFlags, in libraries: EngineLibraries
  ) throws(ConfigurationError) -> EngineLibrary? {
    let settings = try settings(flags)
    guard let wanted = settings.engineToLoad else { return nil }
    let engines = NamedEngines(libraries, settings)
    do throws(CacheError) { return try engines.library(wanted.reference) } catch {
      throw engines.problem(error, wanted)
    }
  }
}

extension ConfigurationTable {
  /// The keys of the tool's configuration, with those of `engines` and of the resources' `sections`.
  init(
    _ engines: [EngineDeclaration], _ sections: [any ConfigurationSection.Type],
    _ policies: [EvictionPolicy] = EvictionPolicy.standard
  ) {
    self.init(.cachectl, engines, Configuration.sections + sections, policies, loadsEngines: true)
  }
}
