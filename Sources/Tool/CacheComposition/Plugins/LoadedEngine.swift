public import StorageSPI

/// An engine whose library was loaded.
public struct LoadedEngine: Sendable {
  /// The engine.
  public let plugin: any StoragePlugin
  /// The absolute path of its library.
  public let path: String
}
