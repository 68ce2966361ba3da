public import FetchVocabulary
internal import StorageSPI

/// A stage of a migration.
public enum MigrationStage: Sendable, Hashable, CaseIterable {
  /// Copying entries.
  case copying
  /// Comparing both stores.
  case verifying
}

/// Copies every entry of a store to another one unchanged, and finally compares the stores. The source is only read.
///
/// A migration can be interrupted at any time, and continues when it is run again: entries that are already there are
/// not written again. Memory is bounded by a page, a batch and the largest entry.
public struct StoreMigration: Sendable {
  private let source: EntryStore
  private let destination: EntryStore?

  /// Creates a migration; `destination` may be `nil` for a dry run to a store that does not exist yet.
  public init(from source: EntryStore, to destination: EntryStore?) {
    self.source = source
    self.destination = destination
  }

  /// Copies the entries except leases, and compares the stores unless it is a dry run.
  ///
  /// Damaged entries and differences are not errors: they are reported, and the other entries are copied.
  /// - Parameter progress: called with the stage, the number of entries done, and the total.
  /// - Throws: `CacheError`: one of the engines failed, or `cancelled`.
  public func run(
    _ options: TransferOptions, progress: (MigrationStage, _ done: Int, _ total: Int?) -> Void
  ) async throws(CacheError) -> TransferReport {
    let total = try await source.count().entries
    var report = try await copy(options) { progress(.copying, $0, total) }
    if !options.isDryRun, let destination {
      try await verify(destination, &report) { progress(.verifying, $0, total) }
    }
    return report
  }

  private func copy(
    _ options: TransferOptions, progress: (Int) -> Void
  ) async throws(CacheError) -> TransferReport {
    var reading = EntryReading(source)
    var writer = EntryWriter(to: destination, options)
    do throws(CacheError) {
      var done = 0
      while let entries = try await reading.next() {
        for entry in entries {
          if entry.metadata.state(at: source.clock.now) == .expired {
            writer.report.expired += 1
          } else {
            try await writer.add(entry)
          }
          done += 1
          progress(done)
        }
      }
      try await writer.flush()
    } catch {
      throw error.code == .cancelled ? writer.interruption(of: "the migration", "copied") : error
    }
    writer.report.damaged = reading.damaged
    return writer.report
  }

  /// Walks through the source once more, and reads each entry from the destination.
  private func verify(
    _ destination: EntryStore, _ report: inout TransferReport, progress: (Int) -> Void
  ) async throws(CacheError) {
    var reading = EntryReading(source)
    var done = 0
    while let entries = try await reading.next() {
      for original in entries where original.metadata.state(at: source.clock.now) != .expired {
        if Task.isCancelled { throw .cancelled }
        let copy = try await metadata(original.key, in: destination)
        if copy == original.metadata {
          report.verified += 1
        } else if copy.map({ destination.isNewer($0.storedAt, than: original.metadata.storedAt) }) != true {
          report.different.add(original.key)
        }
        done += 1
        progress(done)
      }
    }
  }

  /// The metadata of the entry under `key`; `nil` if there is none, or it is damaged.
  private func metadata(_ key: CacheKey, in store: EntryStore) async throws(CacheError) -> EntryMetadata? {
    do throws(CacheError) {
      return try await store.intactMetadata(key)
    } catch {
      if error.code == .damaged { return nil }
      throw error
    }
  }
}
