public import FetchVocabulary
internal import StorageSPI

/// The result of a migration.
public struct MigrationReport: Sendable, Hashable {
  /// The number of entries copied.
  public package(set) var copied = 0
  /// The total size of their payloads, in bytes.
  public package(set) var bytes = 0
  /// The number of entries that the destination already had, exactly the same.
  public package(set) var present = 0
  /// The number of entries that were not copied because the destination has a newer one.
  public package(set) var kept = 0
  /// The number of entries that were not copied because they have expired.
  public package(set) var expired = 0
  /// The number of entries that were finally read from both stores, and are the same.
  public package(set) var verified = 0
  /// Entries of the source that are not what was written, and were left out.
  public package(set) var damaged = KeySample()
  /// The entries that differ between source and destination.
  public package(set) var different = KeySample()

  package init() {}
}

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
/// not written again. Memory is bounded by a page of keys, a batch, what is read ahead and the largest entry.
public struct StoreMigration: Sendable {
  private let source: EntryStore
  private let destination: EntryStore?

  /// Creates a migration; `destination` may be `nil` for a dry run to a store that does not exist yet.
  public init(from source: EntryStore, to destination: EntryStore?) {
    (self.source, self.destination) = (source, destination)
  }

  /// Copies the entries except leases, and compares the stores unless it is a dry run.
  ///
  /// Damaged entries and differences are not errors: they are reported, and the other entries are copied.
  /// - Parameter progress: called with the stage, the number of entries done, and the total.
  /// - Throws: `CacheError`: one of the engines failed, or `cancelled`.
  public func run(
    _ options: TransferOptions, progress: (MigrationStage, _ done: Int, _ total: Int?) -> Void
  ) async throws(CacheError) -> MigrationReport {
    let total = try await source.count()
    var report = try await copy(options) { progress(.copying, $0, total) }
    if !options.isDryRun, let destination {
      try await verify(destination, &report) { progress(.verifying, $0, total) }
    }
    return report
  }

  private func copy(
    _ options: TransferOptions, progress: (Int) -> Void
  ) async throws(CacheError) -> MigrationReport {
    var reading = EntryReading(source, skipsExpired: true)
    var writer = EntryWriter(to: destination, options)
    var done = 0
    do throws(CacheError) {
      while let entry = try await reading.next() {
        try await writer.add(entry)
        done += 1
        progress(done)
      }
      try await writer.flush()
    } catch {
      throw error.code == .cancelled ? writer.interruption(of: "the migration", "copied") : error
    }
    return MigrationReport(writer.counts, expired: reading.expired, damaged: reading.damaged)
  }

  /// Walks through the source once more, and reads each entry from both stores.
  private func verify(
    _ destination: EntryStore, _ report: inout MigrationReport, progress: (Int) -> Void
  ) async throws(CacheError) {
    var walk = EntryWalk(source)
    var done = 0
    var (originals, copies) = (ReadAhead(source.engine), ReadAhead(destination.engine, sizesAreKnown: false))
    while let page = try await walk.next() {
      await destination.engine.releaseMemory()
      originals.expect(page)
      copies.expect(page)
      for entry in page {
        switch try await comparison(entry.key, &originals, &copies, in: destination) {
        case .same: report.verified += 1
        case .different: report.different.add(entry.key)
        case .notToBeCopied: break
        }
        done += 1
        progress(done)
      }
    }
  }

  private enum Comparison {
    case same
    case different
    /// The source has no entry that can be read, or the destination has a newer one.
    case notToBeCopied
  }

  private func comparison(
    _ key: CacheKey, _ originals: inout ReadAhead, _ copies: inout ReadAhead, in destination: EntryStore
  ) async throws(CacheError) -> Comparison {
    guard let original = try await originals.soundMetadata(key), original.state(at: source.clock.now) != .expired else {
      return .notToBeCopied
    }
    guard let copy = try await copies.soundMetadata(key) else {
      return original.transformSteps == nil ? .notToBeCopied : .different
    }
    if copy.isSame(as: original) { return .same }
    return destination.isNewer(copy.storedAt, than: original.storedAt) ? .notToBeCopied : .different
  }
}

extension ReadAhead {
  /// The metadata of the entry under `key`; `nil` if there is none, or it is damaged.
  fileprivate mutating func soundMetadata(_ key: CacheKey) async throws(CacheError) -> EntryMetadata? {
    do throws(CacheError) {
      return try await verifiedMetadata(key)
    } catch {
      if error.code == .damaged { return nil }
      throw error
    }
  }
}

extension MigrationReport {
  fileprivate init(_ counts: EntryWriter.Counts, expired: Int, damaged: KeySample) {
    (copied, bytes, present, kept) = (counts.written, counts.bytes, counts.present, counts.kept)
    (self.expired, self.damaged) = (expired, damaged)
  }
}
