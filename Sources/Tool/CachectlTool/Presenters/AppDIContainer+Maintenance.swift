internal import FetchVocabulary
internal import CachePresentation
internal import CacheCore
internal import EngineAPI

extension AppDIContainer {
  /// What limits the configured store if its engine is not `bounded`; `nil` if the limits of the cache do. It asks the
  /// server, and says why if that does not answer.
  func limitsOfServer() async -> String? {
    guard let (plugin, options) = try? engine(configuration.backend) else { return nil }
    let declaration = plugin.declaration
    if declaration.capabilities.contains(.bounded) { return nil }
    var inspection = StoreInspection(path: "", files: [], format: nil, currentFormat: 1)
    do throws(CacheError) { inspection = try await plugin.inspect(options) } catch {
      inspection = StoreInspection(path: "", files: [], format: nil, currentFormat: 1, limits: error.message)
    }
    return inspection.limitsText(of: declaration.name)
  }

  /// Opens the store and checks every entry. A store that is too damaged to open, or has ended a process, is reported as
  /// a finding.
  ///
  /// - Parameter withStore: opens the store, passes it to its argument, and closes it.
  /// - Throws: `CacheError`: the check could not be made.
  func verify(
    withStore: ((OpenStore) async throws(CacheError) -> IntegrityView) async throws(CacheError) -> IntegrityView,
    progress: @escaping (_ done: Int, _ total: Int?) -> Void
  ) async throws(CacheError) -> IntegrityView {
    do throws(CacheError) {
      // Opening the store would begin with an empty one.
      if let crashed = try crashedStore(backend: configuration.backend) { throw crashed.error }
      return try await withStore { store throws(CacheError) in
        try await makeStorePresenter(store).verify(progress: progress)
      }
    } catch {
      guard error.code == .damaged else { throw error }
      let issue = IntegrityIssue(kind: .structure, message: error.message)
      return IntegrityView(backend: configuration.backend, entriesChecked: 0, issues: [issue])
    }
  }

  /// Moves the configured engine's damaged store aside, which must not be open, and writes what can be read of it into a
  /// new one.
  ///
  /// - Parameters:
  ///   - isDryRun: whether to leave the store as it is, and only find out what would be saved.
  ///   - reader: makes what reads the store of the engine with a name at a path.
  /// - Throws: `CacheError`: `unsupported` if the engine cannot move a store; `busy` if the store is gone;
  ///   `unsupportedFormat` if a later version wrote it. If the store cannot be moved for want of room, or the new one cannot
  ///   be written, the message says where the damaged one is.
  func repairStore(
    isDryRun: Bool, progress: @escaping (Int) -> Void,
    reader: (_ engine: String, _ path: String) throws(CacheError) -> some DamagedStoreReader
  ) async throws(CacheError) -> RepairReport {
    let (plugin, options) = try engine(configuration.backend)
    let name = plugin.declaration.name
    var moved: [String] = []
    if !isDryRun {
      do throws(CacheError) {
        moved = try await plugin.removeStore(options, movingAside: clock.now.damagedSuffix)
      } catch {
        guard error.code == .noSpace else { throw error }
        throw CacheError(
          .noSpace, "\(error.message); the damaged store is still in its place",
          hint: "free some space, then repeat the repair", cause: error)
      }
      try crashedStore(backend: configuration.backend)?.removeMark()
      guard !moved.isEmpty else {
        throw CacheError(.busy, "another process has moved or removed the store", hint: "try again")
      }
    }
    guard let path = isDryRun ? configuration.storePath(of: name) : moved.first else {
      throw CacheError(.unsupported, "backend \(name) cannot move a store aside")
    }
    var store: OpenStore?
    do throws(CacheError) {
      store = isDryRun ? nil : try await openStore()
      var repair = StoreRepair(
        try reader(name, path), into: store?.entries,
        isOrdered: plugin.declaration.capabilities.contains(.ordered), transforms: entryTransforms, progress: progress)
      var report = try await repair.run()
      report.movedTo = moved
      try await store?.close()
      return report
    } catch {
      try? await store?.close()
      if isDryRun { throw error }
      let message = "\(error.message); what could not be written is still in \(path)"
      // A full disk may keep the new store from being created, which is no mistake in the set-up.
      throw CacheError(
        error.code == .cannotCreate ? .noSpace : error.code, message,
        hint: "then save it with: \(plugin.declaration.commandsToSave(storeAt: path))", cause: error)
    }
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
    var held = EntryCount()
    var (isEmpty, replacement) = (false, String?.none)
    if let crashed = try crashedStore(backend: configuration.backend) {
      try await removeStore(because: crashed.error)
      try crashed.removeMark()
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
