public import CacheDomain
internal import ResponseStorage
internal import StorageSPI

extension AppDIContainer {
  /// Opens the store of the engine called `backend` for a command that only reads. Of a damaged store what a repair would
  /// save is read, and its `damage` says what is lost; where the store is too damaged to be opened, or opening would
  /// change it, its `warning` says so.
  ///
  /// - Throws: `CacheError` with the code of the engine's failure, or `unknownBackend`.
  public func openStoreForReading(backend: String) async throws(CacheError) -> OpenStore {
    do throws(StorageError) {
      let (plugin, options) = try engine(backend)
      let reason: StorageError
      do throws(StorageError) {
        try await requireNothingHidden(in: plugin, options)
        let engine = try await plugin.open(options)
        // A server saves nothing, and what is in memory is gone when it is closed.
        guard configuration.storePath(of: plugin.declaration.name) != nil else {
          return makeStore(over: engine, of: backend)
        }
        return makeStore(over: RecoveringEngine(engine, plugin, options), of: backend)
      } catch {
        reason = error
      }
      // A version that is not known may be damage, which the engine's repair tells.
      guard [.damaged, .unsupportedFormat].contains(reason.code) else { throw reason }
      let engine: SalvagedEngine
      do throws(StorageError) {
        engine = try await SalvagedEngine(plugin, options, reason: reason)
      } catch {
        throw [.cancelled, .busy].contains(error.code) ? error : reason
      }
      let warning = CacheError(
        .damaged, "\(backend) is damaged, so that only what a repair would save is read: \(reason.message)",
        hint: "save it with: cachectl --backend \(backend) verify --repair")
      return makeStore(over: engine, of: backend, warning: warning)
    } catch {
      throw CacheError(error)
    }
  }

  /// Makes sure that opening the configured engine's store hides no damage.
  ///
  /// - Throws: `CacheError` with the code `damaged`.
  func requireNothingHidden() async throws(CacheError) {
    do throws(StorageError) {
      let (plugin, options) = try engine(configuration.backend)
      try await requireNothingHidden(in: plugin, options)
    } catch {
      throw CacheError(error)
    }
  }

  /// A store without a path is on a server, or in memory: nothing is hidden there, and to ask would cost a connection.
  private func requireNothingHidden(
    in plugin: any StoragePlugin, _ options: EngineConfiguration
  ) async throws(StorageError) {
    let name = plugin.declaration.name
    // What keeps an engine from looking keeps it from opening the store, too.
    guard configuration.storePath(of: name) != nil, let damage = try? await plugin.inspect(options).hiddenDamage else {
      return
    }
    throw StorageError(.damaged, damage, hint: "save the rest with: cachectl --backend \(name) verify --repair")
  }
}
