internal import Spelling
internal import StorageSPI

/// How engines and their libraries are called.
///
/// An engine is named by its name, or by the path of its library, which contains a slash. The file is called after the
/// engine, so that the name is known without loading it.
public enum EngineName {
  private static let prefix = "libcachectl-"
  private static let suffix = ".so"

  /// The name of the engine that `reference`, a name or the path of a library, names.
  public static func name(of reference: String) -> String {
    guard isPath(reference) else { return reference }
    return name(ofLibrary: reference) ?? reference
  }

  /// Whether `reference` is a path, and not a name.
  static func isPath(_ reference: String) -> Bool { reference.utf8.contains(UInt8(ascii: "/")) }

  /// Whether `name` can be an engine's: a lower-case letter, then lower-case letters and digits, 32 at most.
  ///
  /// "plugin", "cache" and the like cannot be, because their variables would begin like those of other settings.
  static func isValid(_ name: some StringProtocol) -> Bool {
    CacheKey.isNamespace(name) && name != "plugin" && !ConfigurationKey.sections.contains { $0 == name }
  }

  /// The name of the engine whose library is at `path`; `nil` where the file is not called like one.
  static func name(ofLibrary path: String) -> String? {
    let file = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path[path.utf8.index(after: $0)...] } ?? path[...]
    guard file.hasPrefix(prefix), file.hasSuffix(suffix) else { return nil }
    let name = file.dropFirst(prefix.utf8.count).dropLast(suffix.utf8.count)
    return isValid(name) ? String(name) : nil
  }

  /// What the file of the library of the engine called `name` is called.
  static func file(of name: String) -> String { prefix + name + suffix }

  /// Whether `name` is so close to `other` that it was most likely meant.
  static func isNear(_ name: String, _ other: String) -> Bool { Spelling.isNear(name, other) }
}
