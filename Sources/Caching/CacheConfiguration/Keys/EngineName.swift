public import EngineAPI

/// The names of engines and of their library files.
///
/// An engine is named by its name, or by the path of its library, which contains a slash. The file is named after the
/// engine, so that the name is known without loading it.
public enum EngineName {
  private static let prefix = "libcachectl-"
  private static let suffix = ".so"
  private static let reserved = ["cache", "network", "origin", "plugin", "queries"]

  /// The name of the engine for `reference`, a name or the path of a library.
  public static func name(of reference: String) -> String {
    guard isPath(reference) else { return reference }
    return name(ofLibrary: reference) ?? reference
  }

  /// Whether `reference` is a path instead of a name.
  package static func isPath(_ reference: String) -> Bool { reference.utf8.contains(UInt8(ascii: "/")) }

  /// Whether `name` is a valid engine name: a lowercase letter, then lowercase letters and digits, at most 32.
  ///
  /// "plugin", "cache" and the like are not valid, because their variables would begin like those of other settings.
  package static func isValid(_ name: some StringProtocol) -> Bool {
    CacheKey.isNamespace(name) && !reserved.contains { $0 == name }
  }

  /// The name of the engine whose library is at `path`; `nil` if the file is not named like a library of an engine.
  package static func name(ofLibrary path: String) -> String? {
    let file = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path[path.utf8.index(after: $0)...] } ?? path[...]
    guard file.hasPrefix(prefix), file.hasSuffix(suffix) else { return nil }
    let name = file.dropFirst(prefix.utf8.count).dropLast(suffix.utf8.count)
    return isValid(name) ? String(name) : nil
  }

  /// The name of the library file for the engine called `name`.
  package static func file(of name: String) -> String { prefix + name + suffix }
}

/// The name of an engine or the path of its library, and what names it.
public struct EngineReference: Sendable, Hashable {
  /// The name, or a path, which contains a slash.
  package let text: String
  package let source: ConfigurationSource
  /// The path of the key that names it; `nil` for an argument.
  package let key: String?

  /// The engine that `text`, the value of the option or argument `flag`, names. A path is relative to the current
  /// directory.
  public init(_ text: String, flag: String) { self.init(text, .flag(flag)) }

  init(_ text: String, _ source: ConfigurationSource, key: String? = nil) {
    self.text = text
    self.source = source
    self.key = key
  }
}

/// An engine whose library was loaded.
public struct LoadedEngine: Sendable {
  /// The engine.
  public let plugin: any StoragePlugin
  /// The absolute path of its library.
  public let path: String

  /// The engine `plugin` from the library at the absolute path `path`.
  package init(plugin: any StoragePlugin, path: String) {
    self.plugin = plugin
    self.path = path
  }
}
