public import FetchVocabulary
internal import StorageSPI

/// The result of an import.
public struct ImportReport: Sendable, Hashable {
  /// The number of entries written.
  public package(set) var imported = 0
  /// The total size of their payloads, in bytes.
  public package(set) var bytes = 0
  /// The number of entries that the store already had, exactly the same.
  public package(set) var present = 0
  /// The number of entries that were not written because the store has a newer one.
  public package(set) var kept = 0
  /// The number of entries that were not written because they have expired.
  public package(set) var expired = 0

  package init() {}
}

/// Reads the lines of an export into a store. Memory is bounded by a batch and the longest line; a dry run needs about
/// forty bytes more for each entry.
public struct StoreImport: Sendable {
  private let store: EntryStore

  /// Creates an import into `store`.
  public init(into store: EntryStore) {
    self.store = store
  }

  /// Reads pieces from `read` until one is empty, and writes the entries on their lines. Skips empty lines.
  ///
  /// - Parameter source: the name of the input, for messages.
  /// - Throws: `CacheError`: `malformed` with the number of the line that is not an entry; earlier batches have been
  ///   written, as the error says. Also the engine's failure; what `read` throws; `cancelled`.
  public func run(
    _ source: String, _ options: TransferOptions, progress: TransferProgress,
    reading read: @escaping () async throws(CacheError) -> [UInt8]
  ) async throws(CacheError) -> ImportReport {
    var (lines, expired) = (LineSplitter(read), 0)
    var writer = EntryWriter(to: store, options, keysMayRepeat: true)
    do throws(CacheError) {
      while let line = try await lines.next() {
        if Task.isCancelled { throw .cancelled }
        guard let entry = try Self.entry(line, of: source, lines.number, writer) else { continue }
        if entry.metadata.state(at: store.clock.now) == .expired {
          expired += 1
        } else {
          try await writer.add(entry)
        }
        progress(lines.number, nil)
      }
      try await writer.flush()
    } catch {
      throw error.code == .cancelled ? writer.interruption(of: "the import of \(source)", "imported") : error
    }
    return ImportReport(writer.counts, expired: expired)
  }

  /// The entry on a line; `nil` for an empty line.
  private static func entry(
    _ line: [UInt8], of source: String, _ number: Int, _ writer: EntryWriter
  ) throws(CacheError) -> ExportedEntry? {
    if line.allSatisfy({ $0 == 0x20 || $0 == 0x0D || $0 == 0x09 }) { return nil }
    do throws(JSONReader.Failure) {
      return try ExportedEntry.decode(line)
    } catch {
      throw CacheError(
        .malformed, "\(source), line \(number): \(error)",
        hint: "fix or remove the line: \(writer.summary("imported")) before it",
        cause: error)
    }
  }
}

extension ImportReport {
  fileprivate init(_ counts: EntryWriter.Counts, expired: Int) {
    (imported, bytes, present, kept) = (counts.written, counts.bytes, counts.present, counts.kept)
    self.expired = expired
  }
}
