public import FetchVocabulary
internal import HTTPCaching
public import CacheConfiguration
public import CacheCore
public import EngineAPI

// A program with a configured cache imports this module and its engines, and nothing else.
@_exported public import struct CacheConfiguration.ConfigurationEntry
@_exported public import protocol CacheConfiguration.ConfigurationSection
@_exported public import enum CacheConfiguration.ConfigurationSource
@_exported public import struct CacheConfiguration.HeaderSetting
@_exported public import struct CacheConfiguration.Secret
@_exported public import struct CacheConfiguration.SectionReader
@_exported public import ResponseCache

/// The configuration of a program's cache by its users: the engine, the place and the limits of its store, and how long
/// entries are used.
///
///     let configuration = try CacheConfiguration("weather", engines: engines)
///     let cache = try await Cache(configuration)
///
/// `engines` are the plugins of the engines that the program links. Each value comes from the first of these that has it:
///
/// 1. `settings`, which the program makes of its own flags;
/// 2. the environment: `WEATHER_BACKEND`, `WEATHER_CACHE_MAX_BYTES` and so on, after the key's path;
/// 3. a file: the one that `file` or `WEATHER_CONFIG` names, otherwise `~/.config/weather/config.json`;
/// 4. the default.
///
/// Stores are in the folder that `home` or `WEATHER_HOME` names, otherwise in `~/.cache/weather`. The variables
/// `XDG_CONFIG_HOME` and `XDG_CACHE_HOME` apply. Two programs with different names have different files and folders. Their
/// variables differ too, unless one name continues the other with an engine's name or `cache`, as `weather-cache` does:
/// `WEATHER_CACHE_...` are variables of both.
///
/// A variable that is named like none of these counts only if it is so similar to one that it must be a mistake.
public struct CacheConfiguration: Sendable {
  /// The engine, and the place of its store.
  public let location: StorageLocation
  /// How much the cache can hold.
  public let limits: StoreLimits
  /// The absolute path of the file in use; `nil` if there is none.
  public let file: String?
  /// Each setting with its value and the source of the value. Secrets are not shown.
  public var settings: [ConfigurationEntry] { configuration.entries }

  let rules: HTTPCacheRules
  fileprivate let configuration: Configuration

  /// The configuration of this process.
  ///
  /// - Parameters:
  ///   - program: the program's name: 1 to 64 lowercase letters, digits and hyphens, the first a letter. Files and
  ///     folders have it, and in upper case the variables, in which hyphens are underscores.
  ///   - engines: the engines to choose from, the default first.
  ///   - sections: the program's own sections of the file.
  ///   - policies: the eviction policies that users can choose, the default first.
  ///   - settings: texts as in the file, by the paths of their keys, such as `["cache.maxBytes": "64MiB"]`.
  ///   - file: the path of the file to read in place of all others. It must exist.
  ///   - home: the folder for stores.
  /// - Throws: `CacheError`: `malformed` if the file is not JSON, `ioFailed` if it cannot be read, `invalidOption` for
  ///   any other mistake. The message names the file, line, variable or setting.
  public init(
    _ program: String, engines: [any StoragePlugin], sections: [any ConfigurationSection.Type] = [],
    policies: [EvictionPolicy] = EvictionPolicy.standard, settings: [String: String] = [:], file: String? = nil,
    home: String? = nil
  ) throws(CacheError) {
    try self.init(
      program, engines: engines, sections: sections, policies: policies, settings: settings, file: file, home: home,
      environment: ProcessEnvironment.variables, workingDirectory: ProcessEnvironment.workingDirectory,
      userHome: ProcessEnvironment.userHome)
  }

  /// The configuration of a process with that environment and those folders.
  package init(
    _ program: String, engines: [any StoragePlugin], sections: [any ConfigurationSection.Type] = [],
    policies: [EvictionPolicy] = EvictionPolicy.standard, settings: [String: String] = [:], file: String? = nil,
    home: String? = nil, environment: EnvironmentVariables, workingDirectory: String, userHome: String
  ) throws(CacheError) {
    let names = try ConfigurationNames(program)
    guard file?.isEmpty != true else {
      throw CacheError(.invalidOption, "the name of the file is empty", hint: "name one, or leave it out")
    }
    let loader = ConfigurationLoader(
      names: names, engines: engines.map { plugin in DeclaredEngine(plugin.declaration.name, plugin.declaration) },
      common: [CacheSettings.self], sections: sections, policies: policies, environment: environment,
      workingDirectory: workingDirectory, userHome: userHome,
      readFile: { path throws(ConfigurationError) in try ConfigurationFiles.contents(of: path) })
    let assignments = settings.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    let (loaded, problems) = loader.read(ConfigurationFlags(file: file, home: home, settings: assignments))
    guard let loaded else { throw CacheError(problems[0]) }
    configuration = loaded
    let backend = configuration.backend
    guard let plugin = engines.first(where: { $0.declaration.name == backend }) else {
      throw CacheError(.unknownBackend, "\(program) has no engine", hint: "give CacheConfiguration at least one")
    }
    let cache = configuration.section(CacheSettings.self).keys
    location = StorageLocation(plugin, try configuration.options(of: backend))
    limits = cache.limits
    rules = HTTPCacheRules(isShared: cache.isShared, freshness: cache.freshness)
    self.file = configuration.file
  }

  /// The values of `section`, one of the program's own.
  public func section<Section: ConfigurationSection>(_ section: Section.Type) -> Section {
    configuration.section(section)
  }
}

extension Cache {
  /// Opens the cache as `configuration` says, and creates it first if there is none.
  ///
  /// The configured times are those of HTTP responses without a lifetime, and of resources that are made without times
  /// of their own.
  ///
  /// - Parameters:
  ///   - transforms: the transforms of payloads before they are stored, which the program decides.
  ///   - clock: decides which entries are fresh, stale and expired.
  ///   - warn: called once with each failure that costs the caller nothing.
  ///   - observe: called with each value or response that the cache has served, for metrics.
  /// - Throws: `CacheError`: the engine's failure, or `cancelled`. See
  ///   `init(_:limits:isShared:transforms:clock:fallback:warn:observe:)`.
  @concurrent
  public init(
    _ configuration: CacheConfiguration, transforms: EntryTransforms = .none,
    clock: any WallClock = SystemWallClock(), warn: @escaping @Sendable (CacheWarning) -> Void = { _ in },
    observe: (@Sendable (CacheEvent) -> Void)? = nil
  ) async throws(CacheError) {
    var rules = configuration.rules
    rules.credentialKey = CredentialKey(file: "\(configuration.configuration.home)/credentials.key")
    do throws(CacheError) {
      try await self.init(
        configuration.location, limits: configuration.limits, transforms: transforms, rules: rules,
        home: configuration.configuration.home, clock: clock, warn: warn, observe: observe)
    } catch {
      let settings = configuration.configuration
      throw settings.namingSource(of: error, backend: settings.backend)
    }
  }
}

/// The keys of `cache`.
private struct CacheSettings: ConfigurationSection {
  static var path: String { "cache" }

  let keys: CacheKeys

  init(_ keys: inout SectionReader) { self.keys = CacheKeys(&keys, default: .standard) }
}

extension ConfigurationNames {
  /// The names of `program`, which has no commands for its configuration.
  ///
  /// - Throws: `CacheError` with the code `invalidOption` if no program can be called that.
  fileprivate init(_ program: String) throws(CacheError) {
    guard EngineOption.isStoreName(program) else {
      throw CacheError(
        .invalidOption, "a program with a configuration cannot be called '\(program)'",
        hint: "call it by 1 to 64 lowercase letters, digits and hyphens, the first a letter")
    }
    let prefix = String(program.uppercased().map { $0 == "-" ? "_" : $0 }) + "_"
    self.init(
      program, prefix: prefix,
      arguments: (file: "file", home: "home", engine: "backend", setting: "settings"),
      missingFileHint: "name one that exists")
    if let variable = ProcessEnvironment.malformedVariable(beginning: prefix) {
      throw CacheError(
        .invalidOption, "the environment variable \(variable) is not written in UTF-8",
        hint: "set it to text in UTF-8, or unset it")
    }
  }
}

extension CacheError {
  /// The failure because of `error`.
  fileprivate init(_ error: ConfigurationError) {
    let code: Code =
      switch error.code {
      case .syntax: .malformed
      case .permissionDenied: .permissionDenied
      case .unreadableFile: .ioFailed
      case .cancelled: .cancelled
      default: .invalidOption
      }
    self.init(code, error.message, hint: error.hint)
  }
}
