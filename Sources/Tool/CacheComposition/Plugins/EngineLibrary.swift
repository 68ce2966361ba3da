/// A shared library with an engine, not yet loaded.
public struct EngineLibrary: Sendable, Hashable {
  /// The name of the engine, taken from the file's name.
  public let name: String
  /// The absolute path of the library.
  public let path: String
}
