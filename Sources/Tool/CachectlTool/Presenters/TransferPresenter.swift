internal import FetchVocabulary
internal import CachePresentation
internal import CacheCore
internal import EngineAPI

/// Moves entries between stores and files, and presents the results.
struct TransferPresenter: Sendable {
  private let configuration: Configuration

  init(configuration: Configuration) { self.configuration = configuration }

  /// Passes the selected entries of `store` to `write`, as lines of JSON.
  ///
  /// - Parameters:
  ///   - file: the destination to name in the view; `nil` for the standard output.
  ///   - progress: called with the number of entries done, and the total if it is known.
  /// - Throws: `CacheError`: the engine failed, or `write` failed. Damaged entries are part of the view.
  func export(
    _ store: OpenStore, _ selection: EntrySelection, to file: String?,
    progress: (_ done: Int, _ total: Int?) -> Void, write: ([UInt8]) throws(CacheError) -> Void
  ) async throws(CacheError) -> ExportView {
    let report = try await store.entries.export(selection, progress: progress, to: write)
    return ExportView(backend: configuration.backend, file: file, report: report)
  }

  /// Reads lines of JSON into `store` from `read`, which returns them in pieces, and an empty piece at the end.
  ///
  /// - Parameters:
  ///   - source: the name of the input in messages.
  ///   - overwrites: whether to overwrite entries that are newer than those read.
  ///   - progress: called with the number of lines done.
  /// - Throws: `CacheError`: `malformed` if a line is not an entry, the engine's failure, or the failure of `read`.
  func read(
    _ source: String, into store: OpenStore, overwrites: Bool, isDryRun: Bool,
    progress: (_ done: Int, _ total: Int?) -> Void, reading read: @escaping () async throws(CacheError) -> [UInt8]
  ) async throws(CacheError) -> ImportView {
    let options = TransferOptions(overwrites: overwrites, isDryRun: isDryRun)
    let report = try await store.entries.importLines(of: source, options, progress: progress, reading: read)
    var view = ImportView(backend: configuration.backend, report: report, isDryRun: isDryRun)
    if !isDryRun { view.warnings = try await warnings(of: store, configuration.backend) }
    return view
  }

  /// Copies every entry of a store to another one, and compares the two.
  ///
  /// - Parameters:
  ///   - destination: the name and the store; `nil` for a dry run to a store that does not exist yet.
  ///   - overwrites: whether to overwrite entries that are newer than those copied.
  ///   - progress: called with the current step, the number of entries done, and the total if it is known.
  /// - Throws: `CacheError`: an engine failed. Damage and differences are part of the view.
  func migrate(
    from source: (name: String, store: OpenStore), to destination: (name: String, store: OpenStore?),
    overwrites: Bool, isDryRun: Bool, progress: (_ label: String, _ done: Int, _ total: Int?) -> Void
  ) async throws(CacheError) -> MigrationView {
    let options = TransferOptions(overwrites: overwrites, isDryRun: isDryRun)
    let report = try await source.store.entries.migrate(to: destination.store?.entries, options) {
      progress($0.label, $1, $2)
    }
    var view = MigrationView(from: source.name, to: destination.name, report: report, isDryRun: isDryRun)
    if !isDryRun, let store = destination.store { view.warnings = try await warnings(of: store, destination.name) }
    return view
  }

  /// Moving entries ignores the bounds of the store, so that no entry is lost on the way. The next fetch will evict:
  /// warn of that, unless the engine has limits of its own.
  private func warnings(of store: OpenStore, _ backend: String) async throws(CacheError) -> [ErrorView] {
    guard let count = try await store.entries.count() else { return [] }
    let bounds = StoreBounds(
      maxEntries: configuration.cache.limits.maxEntries, maxPayloadBytes: configuration.cache.limits.maxBytes)
    if bounds.contain(count) { return [] }
    return [
      ErrorView(
        code: CacheError.Code.overBounds.rawValue,
        message:
          "\(backend) now holds \(NumberText.entries(count.entries, count.payloadBytes)), more than "
          + "cache.maxEntries or cache.maxBytes allow",
        hint: "raise them before the next fetch, which makes room")
    ]
  }
}

extension AppDIContainer {
  /// The presenter that moves entries between stores and files.
  func makeTransferPresenter() -> TransferPresenter { TransferPresenter(configuration: configuration) }
}

extension MigrationStage {
  fileprivate var label: String {
    switch self {
    case .copying: "Copying"
    case .verifying: "Comparing"
    }
  }
}
