internal import CCachectlPlugin
public import StorageSPI

/// An engine of somebody else's: a shared library with the one function of `cachectl_plugin.h`.
///
/// It is a plugin like any other; nothing else in the system knows that such libraries exist. What the library returns
/// is checked before it is believed. A library that is loaded stays so until the process ends.
public struct LibraryPlugin: StoragePlugin {
  /// What the library says of its engine.
  public let declaration: EngineDeclaration
  /// The absolute path of the library, free of symbolic links.
  public let path: String

  /// Loads the library at `path`.
  ///
  /// - Throws: `StorageError`: `permissionDenied` where others may change the library or a folder on the way to it,
  ///   `invalidPlugin` where it cannot be loaded, is of another version of the interface, or says of itself what no
  ///   engine may say.
  public init(loading path: String) throws(StorageError) {
    throw StorageError(.invalidPlugin, "\(path) cannot be loaded")
  }

  /// Opens a store of the library's engine.
  ///
  /// - Throws: `StorageError`: what the library reports, `failed` where it breaks the rules of the interface.
  public func open(_ configuration: EngineConfiguration) async throws(StorageError) -> any StorageEngine {
    throw StorageError(.unsupported, "\(path) opens no store")
  }
}

extension StorageError.Code {
  /// A library is no plugin, or one of another version.
  public static let invalidPlugin = StorageError.Code(rawValue: "invalidPlugin")
}
