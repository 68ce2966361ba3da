internal import CommandLineKit
internal import FetchVocabulary
internal import CachePresentation
internal import CacheBase
internal import Synchronization

/// The parts that every command on a store needs: the configuration, and a way to print.
struct Session {
  let global: GlobalOptions
  let container: AppDIContainer

  /// - Parameter references: engines that the command names besides the configured one.
  /// - Throws: `ConfigurationError`.
  init(_ global: GlobalOptions, naming references: [EngineReference] = []) throws(ConfigurationError) {
    self.global = global
    CrashNotice.install()
    let configuration = try ConfigurationLoader.ofProcess.load(global.configurationFlags, naming: references)
    container = .ofProcess(configuration, global)
    let place = configuration.storePath ?? configuration.storeAddress
    global.explain("store", place.map { "\(configuration.backend) at \($0)" } ?? configuration.backend)
    for engine in configuration.loadedEngines { global.explain("library", engine.path) }
    global.explain("configuration", configuration.file ?? "no file, all defaults")
  }

  /// The session of a command over what `container` makes.
  init(_ container: AppDIContainer, _ global: GlobalOptions = GlobalOptions()) {
    self.global = global
    self.container = container
  }

  var configuration: Configuration { container.configuration }

  /// Opens the store, passes it to `body`, and always closes it. If there is none and `isCreated` is false, this prints
  /// a remark, and `body` gets an empty store in memory.
  func withStore<Output>(
    creating isCreated: Bool = false, _ body: (OpenStore) async throws(CacheError) -> Output
  ) async throws(CacheError) -> Output {
    try await using(configuration.backend, creating: isCreated, body)
  }

  /// Opens the store of the engine called `backend` for reading only, passes it to `body`, and closes it. The store
  /// must exist.
  func withStore<Output>(
    toReadOf backend: String, _ body: (OpenStore) async throws(CacheError) -> Output
  ) async throws(CacheError) -> Output {
    guard try await container.hasStore(backend: backend) != false else {
      throw CacheError(
        .notFound, "backend \(backend) has no store to read", hint: "see where it would be with: cachectl config show")
    }
    return try await using(backend, creating: false, body)
  }

  /// Opens the store of the engine called `backend` for writing, passes it to `body`, and closes it. A dry run does not
  /// create a missing store.
  func withStore<Output>(
    toWriteOf backend: String, isDryRun: Bool, _ body: (OpenStore) async throws(CacheError) -> Output
  ) async throws(CacheError) -> Output {
    if isDryRun { try requireIntactStore(backend) }
    return try await using(backend, creating: !isDryRun, body)
  }

  /// Makes sure that opening the store of the engine called `backend` would not move it aside, as a dry run must not.
  ///
  /// - Throws: `CacheError`: `damaged` if the store has ended a process.
  func requireIntactStore(_ backend: String) throws(CacheError) {
    if let crashed = try container.crashedStore(backend: backend) { throw crashed.error }
  }

  /// Opens the store for a fetch, passes it to `body`, and closes it. A damaged or unreachable store does not stop the
  /// fetch. To explain a fetch, no store is created.
  ///
  /// - Throws: `CacheError`, even after a successful fetch if `flags` require every response to be stored, and one was
  ///   not.
  func fetching(
    _ flags: FetchFlags, creating isCreated: Bool = true,
    _ body: (OpenStore, inout WriteFailures) async throws(CacheError) -> Void
  ) async throws(CacheError) {
    var writes = WriteFailures(flags)
    let backend = configuration.backend
    try await using(backend, creating: isCreated, isFetching: true) { store throws(CacheError) in
      try await body(store, &writes)
      for failure in await store.finishBackgroundWork() {
        // A response that was changed meanwhile must not be stored: that is a failure only with `--require-store`.
        if failure.code != .conflict { warn(failure, of: backend) }
        writes.note(failure)
      }
    }
    try writes.check()
  }

  /// Opens the store of the engine called `backend`, passes it to `body`, and closes it. The hint of a failure names the
  /// engine.
  private func using<Output>(
    _ backend: String, creating isCreated: Bool, isFetching: Bool = false,
    _ body: (OpenStore) async throws(CacheError) -> Output
  ) async throws(CacheError) -> Output {
    let store = try await open(backend, creating: isCreated, isFetching: isFetching)
    let output: Output
    do throws(CacheError) { output = try await body(store) } catch {
      throw await close(store, of: backend, after: error)
    }
    await close(store, of: backend)
    return output
  }

  // The following functions are not generic: the program would have them once for each type of output.

  private func open(
    _ backend: String, creating isCreated: Bool, isFetching: Bool
  ) async throws(CacheError) -> OpenStore {
    do throws(CacheError) {
      let store =
        if isFetching {
          try await container.openStoreForFetching(creating: isCreated)
        } else if isCreated {
          try await container.openStore(backend: backend)
        } else {
          try await container.openExistingStore(backend: backend)
        }
      warn(store.warning, of: backend)
      return store
    } catch {
      throw naming(backend, in: error)
    }
  }

  private func close(_ store: OpenStore, of backend: String) async {
    if let path = store.missingPath { global.remark(StatusLine(["No store yet at \(path)"])) }
    explainEvictions(of: store)
    do throws(CacheError) { try await store.close() } catch { warn(error, of: backend) }
    warn(store.tierWarning, of: backend)
  }

  /// Closes `store` after `failure`, which the user needs to know before all others.
  private func close(_ store: OpenStore, of backend: String, after failure: CacheError) async -> CacheError {
    try? await store.close()
    if store.tierWarning?.code != failure.code { warn(store.tierWarning, of: backend) }
    guard let path = store.missingPath, failure.code == .notFound else { return naming(backend, in: failure) }
    return CacheError(.notFound, "\(failure.message): no store yet at \(path)", hint: failure.hint)
  }

  private func naming(_ backend: String, in error: CacheError) -> CacheError {
    let hint = ErrorView(error, backend: backend).hint
    return CacheError(error.code, error.message, hint: hint, key: error.key, cause: error.cause)
  }

  private func warn(_ warning: CacheError?, of backend: String) {
    if let warning { global.warn(ErrorView(warning, backend: backend)) }
  }

  private func explainEvictions(of store: OpenStore) {
    let evictions = store.entries.uses.counts.evictions
    guard evictions > 0 else { return }
    let limits = configuration.cache.limits
    global.explain(
      "eviction",
      "\(evictions) removed to stay within cache.maxEntries \(limits.maxEntries) and cache.maxBytes "
        + "\(limits.maxBytes), \(limits.eviction.name) first")
  }
}

extension GlobalOptions {
  /// Opens the configured store, passes `body` what a resource is made of, and closes the store.
  ///
  /// - Throws: `ConfigurationError`, or `CacheError` with the code of the engine's failure.
  public func withStore<Output>(
    _ body: (ResourceContext) async throws(CacheError) -> Output
  ) async throws -> Output {
    let session = try Session(self)
    return try await session.withStore(creating: true) { store throws(CacheError) in
      try await body(session.container.context(store))
    }
  }
}

extension AppDIContainer {
  /// The container for the configuration of this process with `flags`.
  static func ofProcess(
    _ flags: ConfigurationFlags = ConfigurationFlags(), loader: ConfigurationLoader = .ofProcess
  ) throws(ConfigurationError) -> AppDIContainer {
    ofProcess(try loader.load(flags))
  }

  /// The container for `configuration`, with what this program has. `global` says what to print of transfers.
  static func ofProcess(_ configuration: Configuration, _ global: GlobalOptions = GlobalOptions()) -> AppDIContainer {
    let program = Cachectl.current
    return AppDIContainer(
      configuration: configuration, catalogue: program.catalogue, transforms: program.transforms,
      layers: program.layers, userAgent: "cachectl/\(Cachectl.version)",
      transfer: { transport in
        NetworkServiceFactory(log: global.logger("request")) { global.warn(ErrorView($0)) }.makeService(transport)
      },
      observe: global.observer)
  }
}

extension ConfigurationLoader {
  /// The loader for this process: its environment, its current directory and the system's files.
  static var ofProcess: ConfigurationLoader { ofProcess(EngineLibraries(willLoad: CrashNotice.add)) }

  /// The same loader, with `libraries` to load engines.
  static func ofProcess(
    _ libraries: @autoclosure @escaping @Sendable () -> EngineLibraries
  ) -> ConfigurationLoader {
    let (program, environment) = (Cachectl.current, ProcessEnvironment.variables)
    return ConfigurationLoader(
      engines: program.catalogue.declared, sections: program.sections, policies: program.policies,
      environment: environment, workingDirectory: ProcessEnvironment.workingDirectory,
      userHome: ProcessEnvironment.userHome, libraries: libraries(),
      readFile: contents)
  }

  /// The configuration files that this process has read: a command can look at one several times, and a pipe can be
  /// read only once.
  private static let filesRead = Mutex<[(path: String, bytes: [UInt8])]>([])

  /// The bytes of the configuration file at `path`; `nil` if there is none.
  static func contents(of path: String) throws(ConfigurationError) -> [UInt8]? {
    if let bytes = filesRead.withLock({ $0.first { $0.path == path }?.bytes }) { return bytes }
    let bytes = try ConfigurationFiles.contents(of: path)
    if let bytes { filesRead.withLock { $0.append((path, bytes)) } }
    return bytes
  }
}
