internal import Base
public import ResponseStorage
public import StorageSPI

extension ConfigurationNames {
  /// The names of the tool's own configuration.
  static var cachectl: ConfigurationNames {
    ConfigurationNames(
      "cachectl", prefix: "CACHECTL_",
      arguments: Arguments(file: "--config", home: "--home", engine: "--backend", setting: "--set"),
      advice: Advice(
        missingFile: "name one that exists, or make it: cachectl config init",
        untrustedFile: { "read it, then trust it with: cachectl config trust \(shellWord($0))" }))
  }

  /// `text` as a single shell word.
  private static func shellWord(_ text: String) -> String {
    let isPlain = text.utf8.allSatisfy { $0.isASCIILetterOrDigit || "/._-+,".utf8.contains($0) }
    return isPlain
      ? text : "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
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
      engines: engines, sections: sections, policies: policies, environment: environment,
      workingDirectory: workingDirectory, userHome: userHome, libraries: libraries, files: SystemFileInspection(),
      readFile: readFile)
  }

  /// Creates a loader that examines links and trust records through `files`.
  init(
    engines: [EngineDeclaration], sections: [any ConfigurationSection.Type],
    policies: [EvictionPolicy] = EvictionPolicy.standard, environment: EnvironmentVariables,
    workingDirectory: String, userHome: String, libraries: EngineLibraries, files: any FileInspection,
    readFile: @escaping ReadFile
  ) {
    self.init(
      names: .cachectl, engines: engines, sections: Configuration.sections + sections, policies: policies,
      environment: environment,
      workingDirectory: workingDirectory, userHome: userHome, engineLoader: libraries, files: files,
      readFile: readFile)
  }

  /// Finds and loads named engines that are not built in.
  package var libraries: EngineLibraries { engineLoader as? EngineLibraries ?? EngineLibraries() }

  /// The library of the engine that `flags.backend` names, without loading it; `nil` if the engine is built in.
  ///
  /// - Throws: `ConfigurationError`: the configuration has a mistake, or there is no such library.
  public func library(_ flags: ConfigurationFlags) throws(ConfigurationError) -> EngineLibrary? {
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
