/// A shared library with an engine, not loaded.
public struct EngineLibrary: Sendable, Hashable {
  /// The name of the engine, which is that of the file.
  public let name: String
  /// The absolute path of the library.
  public let path: String
}
