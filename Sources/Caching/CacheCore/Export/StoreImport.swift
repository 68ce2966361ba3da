public import FetchVocabulary
internal import StorageSPI

/// Reads the lines of an export into a store. Memory is bounded by a batch and the longest line.
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
  ) async throws(CacheError) -> TransferReport {
    var lines = LineSplitter(read)
    var writer = EntryWriter(to: store, options)
    do throws(CacheError) {
      while let line = try await lines.next() {
        if Task.isCancelled { throw .cancelled }
        guard let entry = try Self.entry(line, of: source, lines.number, writer) else { continue }
        if entry.metadata.state(at: store.clock.now) == .expired {
          writer.report.expired += 1
        } else {
          try await writer.add(entry)
        }
        progress(lines.number, nil)
      }
      try await writer.flush()
    } catch {
      throw error.code == .cancelled ? writer.interruption(of: "the import of \(source)", "imported") : error
    }
    return writer.report
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
    while true {
      if let end = nextLineFeed() { return take(upTo: end, skipping: 1) }
      guard !isAtEnd else { return start < bytes.count ? take(upTo: bytes.count, skipping: 0) : nil }
      try await readMore()
    }
  }

  private mutating func nextLineFeed() -> Int? {
    searched = Self.firstLineFeed(in: bytes.span, from: searched)
    return searched < bytes.count ? searched : nil
  }

  /// The index of the first line feed from `start` on; the number of bytes if there is none.
  private static func firstLineFeed(in bytes: Span<UInt8>, from start: Int) -> Int {
    var index = start
    while index < bytes.count, bytes[index] != 0x0A { index += 1 }
    return index
  }

  private mutating func take(upTo end: Int, skipping separator: Int) -> [UInt8] {
    defer {
      start = end + separator
      searched = start
      number += 1
    }
    return Array(bytes[start..<end].droppingByteOrderMark())
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
