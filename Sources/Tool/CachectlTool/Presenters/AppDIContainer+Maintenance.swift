internal import CacheComposition
internal import FetchVocabulary
internal import CachePresentation
internal import ResponseStorage
internal import StorageSPI

extension AppDIContainer {
  /// Opens the store and checks every entry. A store that is too damaged to open, or has damage that opening would
  /// hide, is reported as a finding, and is not opened.
  ///
  /// - Parameters:
  ///   - repairs: whether a repair follows. A store of an unknown version is then a finding, too: the repair tells
  ///     whether it is a later version or damage.
  ///   - withStore: opens the store, passes it to its argument, and closes it.
  /// - Throws: `CacheError`: the check could not be made.
  func verify(
    repairs: Bool = false,
    withStore: ((OpenStore) async throws(CacheError) -> IntegrityView) async throws(CacheError) -> IntegrityView,
    progress: @escaping (_ done: Int, _ total: Int?) -> Void
  ) async throws(CacheError) -> IntegrityView {
    do throws(CacheError) {
      // Opening the store would begin with an empty one.
      if let crashed = try crashedStore(backend: configuration.backend) { throw crashed.error }
      try await requireNothingHidden()
      return try await withStore { store throws(CacheError) in
        try await makeStorePresenter(store).verify(progress: progress)
      }
    } catch {
      guard error.code == .damaged || (repairs && error.code == .unsupportedFormat) else { throw error }
      let issue = IntegrityIssue(kind: .structure, message: error.message)
      return IntegrityView(backend: configuration.backend, entriesChecked: 0, issues: [issue])
    }
  }

  /// Saves what can be read of the configured engine's store, which must not be open. Sets the damaged files aside,
  /// named with the time of the repair.
  ///
  /// - Parameter isDryRun: whether to leave the store as it is and only find out what would be saved.
  /// - Throws: `CacheError`: the store is unchanged; `unsupported` if the engine cannot repair, or cannot say what it
  ///   would do.
  func repairStore(isDryRun: Bool = false) async throws(CacheError) -> RepairReport {
    throw CacheError(.unsupported, "backend \(configuration.backend) cannot repair a store")
  }

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
    if let crashed = try crashedStore(backend: configuration.backend) {
      try await removeStore(because: crashed.error)
      crashed.removeMark()
      replacement = replaced(because: crashed.error)
    }
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
        replacement = replaced(because: error)
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

  private func replaced(because reason: CacheError) -> String {
    "\(configuration.backend): an empty store has taken the place of the old one (\(reason.message))"
  }

  private func removeStore(because reason: CacheError) async throws(CacheError) {
    do throws(CacheError) {
      let (plugin, options) = try engine(configuration.backend)
      _ = try await plugin.removeStore(options, movingAside: nil)
    } catch {
      throw error.code == .unsupported ? reason : error
    }
  }
}

extension Timestamp {
  /// The time to the second in the basic format of ISO 8601, such as "20260131T120000Z": a shell needs no quotes for
  /// it, and names sort by it.
  var basicText: String {
    let second = Duration.seconds(milliseconds / 1_000)
    return RFC3339Text.text(second).filter { $0 != "-" && $0 != ":" }
  }
}
