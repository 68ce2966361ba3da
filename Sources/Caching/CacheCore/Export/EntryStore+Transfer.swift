internal import EngineAPI

/// Moving entries to files and other stores, and back. Memory is bounded by a page, a batch and the largest entry or line,
/// for stores of any size.
extension EntryStore {
  /// How many bytes of an export to write at once, if lines are short.
  private static var exportedBytes: Int { 1 << 16 }

  /// Passes the lines of the selected entries to `write`, several at a time, without leases, in the order in which the
  /// engine lists them. Entries are exported as they are stored.
  ///
  /// Damaged entries are left out and reported. Expired entries that still exist are exported too.
  /// - Throws: `CacheError`: the engine failed, what `write` throws, or `cancelled`.
  public func export(
    _ selection: EntrySelection, progress: TransferProgress, to write: ([UInt8]) throws(CacheError) -> Void
  ) async throws(CacheError) -> TransferReport {
    let total = selection == EntrySelection() ? try await count()?.entries : nil
    var report = TransferReport()
    report.damaged = try await visitIntact(selection) { entries throws(CacheError) in
      var lines: [UInt8] = []
      for entry in entries {
        entry.encode(to: &lines)
        report.written += 1
        report.bytes += entry.payload.count
        progress(report.written, total)
        guard lines.count >= Self.exportedBytes else { continue }
        try write(lines)
        lines.removeAll(keepingCapacity: lines.capacity < 1 << 20)
      }
      if !lines.isEmpty { try write(lines) }
    }
    return report
  }

  /// Reads pieces of an export from `read` until one is empty, and writes the entries on their lines into the store. Skips
  /// empty lines.
  ///
  /// - Parameter source: the name of the input, for messages.
  /// - Throws: `CacheError`: `malformed` with the number of the line that is not an entry; earlier batches have been
  ///   written, as the error says. Also the engine's failure; what `read` throws; `cancelled`.
  public func importLines(
    of source: String, _ options: TransferOptions, progress: TransferProgress,
    reading read: @escaping () async throws(CacheError) -> [UInt8]
  ) async throws(CacheError) -> TransferReport {
    var lines = LineSplitter(read)
    var writer = EntryWriter(to: self, options)
    do throws(CacheError) {
      while let line = try await lines.next() {
        if Task.isCancelled { throw .cancelled }
        if line.allSatisfy({ $0 == 0x20 || $0 == 0x0D || $0 == 0x09 }) { continue }
        let entry: ExportedEntry
        do throws(JSONReader.Failure) {
          entry = try ExportedEntry.decode(line)
        } catch {
          throw CacheError(
            .malformed, "\(source), line \(lines.number): \(error)",
            hint: "fix or remove the line: \(writer.summary("imported")) before it", cause: error)
        }
        try await writer.add(entry, unlessExpiredAt: clock.now)
        progress(lines.number, nil)
      }
      try await writer.flush()
    } catch {
      throw error.code == .cancelled ? writer.interruption(of: "the import of \(source)", "imported") : error
    }
    return writer.report
  }

  /// Copies every entry except leases to `destination` unchanged, and finally compares the stores unless it is a dry run.
  /// This store is only read.
  ///
  /// A migration can be interrupted at any time, and continues when it is run again: entries that are already there are
  /// not written again. Damaged entries and differences are not errors: they are reported, and the other entries are copied.
  /// - Parameters:
  ///   - destination: `nil` for a dry run to a store that does not exist yet.
  ///   - progress: called with the stage, the number of entries done, and the total.
  /// - Throws: `CacheError`: one of the engines failed, or `cancelled`.
  public func migrate(
    to destination: EntryStore?, _ options: TransferOptions,
    progress: (MigrationStage, _ done: Int, _ total: Int?) -> Void
  ) async throws(CacheError) -> TransferReport {
    let total = try await count()?.entries
    var writer = EntryWriter(to: destination, options)
    do throws(CacheError) {
      var done = 0
      let damaged = try await visitIntact { entries throws(CacheError) in
        for entry in entries {
          try await writer.add(entry, unlessExpiredAt: clock.now)
          done += 1
          progress(.copying, done, total)
        }
      }
      try await writer.flush()
      writer.report.damaged = damaged
    } catch {
      throw error.code == .cancelled ? writer.interruption(of: "the migration", "copied") : error
    }
    guard let destination, !options.isDryRun else { return writer.report }
    return try await compared(with: destination, writer.report) { progress(.verifying, $0, total) }
  }

  /// `report` with the result of walking through the store once more, and reading each entry from `destination`.
  private func compared(
    with destination: EntryStore, _ report: TransferReport, progress: (Int) -> Void
  ) async throws(CacheError) -> TransferReport {
    var report = report
    var done = 0
    _ = try await visitIntact { entries throws(CacheError) in
      for original in entries where original.metadata.state(at: clock.now) != .expired {
        if Task.isCancelled { throw .cancelled }
        var copy: EntryMetadata?
        do throws(CacheError) {
          copy = try await destination.intactMetadata(original.key)
        } catch {
          guard error.code == .damaged else { throw error }
        }
        if copy == original.metadata {
          report.verified += 1
        } else if copy.map({ destination.isNewer($0.storedAt, than: original.metadata.storedAt) }) != true {
          report.different.add(original.key)
        }
        done += 1
        progress(done)
      }
    }
    return report
  }
}

/// A stage of a migration.
public enum MigrationStage: Sendable, Hashable, CaseIterable {
  /// Copying entries.
  case copying
  /// Comparing both stores.
  case verifying
}

/// Splits input that arrives in pieces into lines. It holds at most one line and one piece.
struct LineSplitter {
  /// The longest line, in bytes: enough for a payload of 64 MiB, in any encoding.
  static let maximumLength = 512 << 20

  private let read: () async throws(CacheError) -> [UInt8]
  private var bytes: [UInt8] = []
  /// Where in `bytes` the next line begins.
  private var start = 0
  /// How much of `bytes` has been searched for a line feed.
  private var searched = 0
  private var isAtEnd = false

  /// The number of lines returned so far.
  private(set) var number = 0

  /// Creates a splitter for the pieces that `read` returns; an empty one means the end.
  init(_ read: @escaping () async throws(CacheError) -> [UInt8]) { self.read = read }

  /// The next line without its line feed; `nil` at the end. The last line need not have one. A byte order mark at the
  /// start of a line is left out: editors write one at the start of a file, and files are appended to each other.
  ///
  /// - Throws: `CacheError`: what reading throws; `malformed` if a line is too long.
  mutating func next() async throws(CacheError) -> [UInt8]? {
    while !hasLineFeed() {
      if isAtEnd {
        if start == bytes.count { return nil }
        break
      }
      try await readMore()
    }
    let line = Array(bytes[start..<searched].droppingByteOrderMark())
    start = min(searched + 1, bytes.count)
    searched = start
    number += 1
    return line
  }

  /// Whether there is a line feed from `searched` on, which is then its index.
  private mutating func hasLineFeed() -> Bool {
    searched = bytes[searched...].firstIndex(of: 0x0A) ?? bytes.count
    return searched < bytes.count
  }

  private mutating func readMore() async throws(CacheError) {
    bytes.removeFirst(start)
    searched -= start
    start = 0
    // Free the memory of a very long line.
    if bytes.isEmpty, bytes.capacity > 1 << 20 { bytes = [] }
    let piece = try await read()
    isAtEnd = piece.isEmpty
    bytes += piece
    guard bytes.count <= Self.maximumLength else {
      throw CacheError(.malformed, "line \(number + 1) is longer than \(Self.maximumLength >> 20) MiB")
    }
  }
}
