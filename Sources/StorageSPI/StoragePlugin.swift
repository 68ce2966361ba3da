/// Makes engines of one kind. It is all that the composition root knows of an engine.
public protocol StoragePlugin: Sendable {
  /// What the engine is called, can do and can be told.
  var declaration: EngineDeclaration { get }

  /// Opens the store that `configuration` describes, and makes it first where there is none.
  ///
  /// What it makes on disk is for the user alone (folders 0700, files 0600), missing parent folders among them. Opening
  /// a damaged store fails or succeeds, but never changes or removes what can still be read.
  ///
  /// - Throws: `StorageError`: `cannotCreate` where there is no store and none can be made, `damaged` or
  ///   `unsupportedFormat` where what is there is not a store of this engine, `permissionDenied`, `busy`, `unreachable`.
  func open(_ configuration: EngineConfiguration) async throws(StorageError) -> any StorageEngine
}
