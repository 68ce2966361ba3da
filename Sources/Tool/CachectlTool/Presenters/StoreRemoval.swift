internal import CacheComposition
internal import CacheDomain
internal import CachePresentation
internal import ResponseStorage
internal import StorageSPI

extension AppDIContainer {
  /// The failures that stop the removal of entries, but not of the whole store.
  private static let removable: Set<CacheError.Code> = [
    .damaged, .unsupportedFormat, .noSpace, .ioFailed, .tooLarge,
  ]

  /// Removes every entry of the configured engine's store. Replaces a damaged store, or one without the space to remove
  /// entries, by an empty one.
  ///
  /// - Parameter withStore: opens the store, passes it to its argument, and closes it.
  /// - Throws: `CacheError`: the store is out of reach, or another process has files open that would have to be
  ///   removed.
  func removeAll(
    withStore: ((OpenStore) async throws(CacheError) -> Void) async throws(CacheError) -> Void
  ) async throws(CacheError) -> RemovalView {
    var held = EntryTally.Count()
    var (isEmpty, replacement) = (false, String?.none)
    do throws(CacheError) {
      try await withStore { store throws(CacheError) in
        try await store.administration.removeAll { held = $0 }
        isEmpty = true
        try await store.administration.requireRoom()
      }
    } catch {
      guard Self.removable.contains(error.code) else { throw error }
      do throws(CacheError) {
        try await removeStore(because: error)
        replacement = "\(configuration.backend): an empty store has taken the place of the old one (\(error.message))"
      } catch {
        // Another process uses the store, which is empty already.
        guard isEmpty, error.code == .busy else { throw error }
      }
      // If there is no space for a new store now, the next command creates it.
      do throws(CacheError) { try await withStore { _ in } } catch {
        guard [.noSpace, .cannotCreate].contains(error.code) else { throw error }
      }
    }
    var view = RemovalView(
      backend: configuration.backend, RemovalReport(entries: held.entries, payloadBytes: held.payloadBytes))
    view.replacement = replacement
    return view
  }

  private func removeStore(because reason: CacheError) async throws(CacheError) {
    do throws(CacheError) {
      let plugin = try catalogue.plugin(named: configuration.backend)
      try await plugin.removeStore(try engineConfiguration(for: plugin.declaration))
    } catch {
      throw error.code == .unsupported ? reason : error
    }
  }
}
