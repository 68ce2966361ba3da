public import StorageSPI

/// A shared library with an engine, not loaded.
public struct EngineLibrary: Sendable, Hashable {
  /// The name of the engine, which is that of the file.
  public let name: String
  /// The absolute path of the library.
  public let path: String
}

/// An engine whose library was loaded.
public struct LoadedEngine: Sendable {
  /// The engine.
  public let plugin: any StoragePlugin
  /// The absolute path of its library.
  public let path: String
}

/// The name of an engine, or the path of its library, and what on the command line says so.
public struct EngineReference: Sendable, Hashable {
  /// The name, or a path that contains a slash and is relative to the current directory.
  public let text: String
  /// The option or argument that has the text, such as "--from".
  public let flag: String

  /// The engine that `text`, the value of `flag`, names.
  public init(_ text: String, flag: String) {
    self.text = text
    self.flag = flag
  }
}
