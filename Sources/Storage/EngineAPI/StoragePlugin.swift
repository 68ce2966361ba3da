/// Makes engines of one kind. The composition root knows nothing else about an engine.
public protocol StoragePlugin: Sendable {
  /// The engine's name, capabilities and options.
  var declaration: EngineDeclaration { get }

  /// Opens the store that `configuration` describes, and creates it first if there is none.
  ///
  /// What it creates on disk, including missing parent folders, is accessible to the user alone (folders 0700, files
  /// 0600). Opening a damaged store can fail or succeed, but never changes or removes anything that can still be read.
  ///
  /// - Throws: `CacheError`: `cannotCreate` if there is no store and none can be created, or if the files at its path
  ///   belong to someone else, which it leaves unchanged; `damaged`; `unsupportedFormat` if the store is of a later
  ///   version; `permissionDenied`, `busy`, `unreachable`.
  func open(_ configuration: EngineConfiguration) async throws(CacheError) -> any StorageEngine

  /// Inspects the store that `configuration` describes, without opening, creating or changing it. An engine whose
  /// stores are on a server asks that server; if it does not respond, this fails like `open(_:)`.
  ///
  /// - Throws: `CacheError`: `cannotCreate` if the files belong to someone else, `permissionDenied`, `ioFailed`,
  ///   `unreachable`; `unsupported` if the engine cannot tell.
  func inspect(_ configuration: EngineConfiguration) async throws(CacheError) -> StoreInspection

  /// Removes the store that `configuration` describes with everything in it, whatever its state, or moves it aside.
  /// Opening it afterwards creates an empty store. Deleting needs no disk space; moving a directory aside
  /// needs a few blocks.
  ///
  /// A store that is a file `NAME` is moved to `NAME` with `suffix`, and its side files to the same name with their own
  /// endings (`-wal`, `.uses`). A store that is a folder moves its own files into a new folder of that name; foreign files
  /// stay. If the name is taken, "-2", "-3" and so on is appended to the suffix. The moved store can be opened there.
  ///
  /// - Parameter suffix: what to append to the names of moved files, such as ".damaged-20260131T120000Z"; `nil` to
  ///   delete the store.
  /// - Returns: the new paths, that of the file or folder to open first; empty if they were deleted, or there was no
  ///   store.
  /// - Throws: `CacheError`: `busy` if a handle in this process or another one has the store open, and would continue
  ///   to use the removed files; `cannotCreate` if the files belong to someone else; `unsupportedFormat` if the store
  ///   is of a later version; `permissionDenied`, `ioFailed`; `unsupported` if the engine cannot remove stores, or
  ///   cannot move them.
  func removeStore(
    _ configuration: EngineConfiguration, movingAside suffix: String?
  ) async throws(CacheError) -> [String]

  /// The plugin that this one is a layer around; the default is `nil`. It replaces a cast, which is slow.
  var wrapped: (any StoragePlugin)? { get }
}

extension StoragePlugin {
  /// `nil`: the plugin is not a layer.
  public var wrapped: (any StoragePlugin)? { nil }

  /// Asks the plugin inside; throws `unsupported` if there is none.
  public func inspect(_ configuration: EngineConfiguration) async throws(CacheError) -> StoreInspection {
    guard let wrapped else { throw unsupported("tell what there is of a store without opening it") }
    return try await wrapped.inspect(configuration)
  }

  /// Has the plugin inside do it; throws `unsupported` if there is none.
  public func removeStore(
    _ configuration: EngineConfiguration, movingAside suffix: String?
  ) async throws(CacheError) -> [String] {
    guard let wrapped else { throw unsupported("remove a store that it cannot open") }
    return try await wrapped.removeStore(configuration, movingAside: suffix)
  }

  private func unsupported(_ what: String) -> CacheError {
    CacheError(.unsupported, "backend \(declaration.name) cannot \(what)")
  }
}

/// Facts about a store, gathered without opening, creating or changing it.
public struct StoreInspection: Sendable, Hashable {
  /// The actual or intended place of the store: a file, a folder or an address.
  public let path: String
  /// Whether the store exists.
  public let exists: Bool
  /// The store's files, with absolute paths; empty if the store does not exist or is on a server.
  public let files: [String]
  /// The version of the store's format; `nil` if there is no store, or if its version cannot be read.
  public let format: Int?
  /// The version that the engine writes.
  public let currentFormat: Int
  /// The limits that the store has in place of those of the cache, such as "maxmemory 256 MiB, allkeys-lru", in one line;
  /// `nil` if they are unknown. For engines that are not `bounded`.
  public let limits: String?
  /// A problem with the place of the store, such as a server that refuses entries it has no room for, and how to solve it, in
  /// one line; `nil` if there is none.
  public let caution: String?

  /// An inspection. If `exists` is not given, the store exists if it has files.
  public init(
    path: String, exists: Bool? = nil, files: [String], format: Int?, currentFormat: Int, limits: String? = nil,
    caution: String? = nil
  ) {
    self.path = path
    self.exists = exists ?? !files.isEmpty
    self.files = files
    self.format = format
    self.currentFormat = currentFormat
    self.limits = limits
    self.caution = caution
  }
}
