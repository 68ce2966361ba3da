public import CacheDomain
internal import ResponseStorage
internal import StorageSPI

extension AppDIContainer {
  /// Opens the store of the engine called `backend` for reading only. If the store is damaged, reads what a repair
  /// would save, and `damage` says what is lost; `warning` says so if the store is too damaged to open, or opening
  /// would change it.
  ///
  /// - Throws: `CacheError` with the code of the engine's failure, or `unknownBackend`.
  public func openStoreForReading(backend: String) async throws(CacheError) -> OpenStore {
    let (plugin, options) = try engine(backend)
    let reason: CacheError
    do throws(CacheError) {
      try await requireNothingHidden(in: plugin, options)
      let engine = try await plugin.open(options)
      // A server saves nothing, and a store in memory is lost when it is closed.
      guard configuration.storePath(of: plugin.declaration.name) != nil else {
        return makeStore(over: engine, of: backend)
      }
      return makeStore(over: RecoveringEngine(engine, plugin, options), of: backend)
    } catch {
      reason = error
    }
    // An unknown version may be damage; the engine's repair can tell.
    guard [.damaged, .unsupportedFormat].contains(reason.code) else { throw reason }
    let engine: SalvagedEngine
    do throws(CacheError) {
      engine = try await SalvagedEngine(plugin, options, reason: reason)
    } catch {
      throw [.cancelled, .busy].contains(error.code) ? error : reason
    }
    let warning = CacheError(
      .damaged, "\(backend) is damaged: reading only what a repair would save: \(reason.message)",
      hint: "save it with: cachectl --backend \(backend) verify --repair")
    return makeStore(over: engine, of: backend, warning: warning)
  }

  /// Makes sure that opening the configured engine's store hides no damage.
  ///
  /// - Throws: `CacheError` with the code `damaged`.
  package func requireNothingHidden() async throws(CacheError) {
    let (plugin, options) = try engine(configuration.backend)
    try await requireNothingHidden(in: plugin, options)
  }

  /// A store without a path is on a server or in memory: it hides nothing, and asking would cost a connection.
  private func requireNothingHidden(
    in plugin: any StoragePlugin, _ options: EngineConfiguration
  ) async throws(CacheError) {
    let name = plugin.declaration.name
    // If the engine cannot inspect the store, it cannot open it either.
    guard configuration.storePath(of: name) != nil, let damage = try? await plugin.inspect(options).hiddenDamage else {
      return
    }
    throw CacheError(.damaged, damage, hint: "save the rest with: cachectl --backend \(name) verify --repair")
  }
}
