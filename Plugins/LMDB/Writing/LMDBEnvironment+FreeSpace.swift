internal import CLMDB
internal import Platform
internal import StorageSPI

/// Returns free pages to the file system. LMDB itself reuses them, but keeps them in the file.
///
/// The pages become holes in the file, which take up no space and read as zeros. This is safe while other processes use
/// the store, under two conditions. No process may start to reuse a page meanwhile: so it holds the write transaction,
/// of which there is only one at a time. And no state that a reader sees, or that LMDB may fall back to after a crash,
/// may contain the page. Transaction N lists the pages that are not part of state N and later ones. So only the lists
/// of transactions before the last one and before every reader are used, just as LMDB does when it reuses pages.
extension LMDBEnvironment {
  /// The handle of the free-page database, a constant of LMDB.
  private static let freeList: MDB_dbi = 0
  /// The first pages of the file, which are never free.
  private static let metaPages = 2

  /// Removes the entries that are expired at `time`, and turns free pages into holes. If there is no room to remove
  /// anything, it makes the holes first, to gain some.
  ///
  /// - Throws: `damaged`, before changing anything, if the structure is damaged: a wrong list could name pages in use.
  func compact(at time: Timestamp, _ durability: Durability) throws(CacheError) {
    guard !isReadOnly else { throw error(EACCES, "write to") }
    try checkStructure(.full)
    do throws(CacheError) {
      try removeExpired(at: time, durability)
    } catch {
      guard error.isWantOfRoom else { throw error }
      try releaseFreePages()
      try removeExpired(at: time, durability)
    }
    try releaseFreePages()
  }

  /// Turns the free pages into holes. Does nothing if the file system does not support it.
  private func releaseFreePages() throws(CacheError) {
    mdb_reader_check(pointer, nil)
    do throws(CacheError) {
      try commitNothing()
    } catch {
      // Then the pages that the last transaction freed wait until the next time.
      guard error.isWantOfRoom else { throw error }
    }
    try growing(for: Self.mapGranularity) { () throws(CacheError) in
      let writer = try beginWriting(.full)
      defer { writer.abort() }
      let status = mdb_env_sync(pointer, 1)
      guard status == MDB_SUCCESS else { throw error(status, "write to") }
      try releaseFreePages(freedBefore: min(writer.number - 1, oldestReader() ?? .max))
    }
  }

  /// Commits a transaction that changes only its own number, so that the pages freed by the one before it are no longer
  /// part of the last state but one.
  private func commitNothing() throws(CacheError) {
    try change([], bytes: Self.mapGranularity, .full) { _, _, tally throws(CacheError) in
      try tally.writeSummary()
    }
  }

  /// LMDB shows the list of free pages only to read transactions.
  private func releaseFreePages(freedBefore limit: Int) throws(CacheError) {
    let reader = try LMDBTransaction(self, flags: MDB_RDONLY)
    defer { reader.abort() }
    var stat = MDB_stat()
    mdb_env_stat(pointer, &stat)
    try reader.withCursor(on: Self.freeList) { cursor throws(CacheError) in
      var item = try cursor.first()
      while let (key, value) = item, key.loadUnaligned(as: Int.self) < limit {
        for pages in LMDBFreePages(value) where try !release(pages, pageSize: Int(stat.ms_psize)) { return }
        item = try cursor.next()
      }
    }
  }

  /// Turns the pages into a hole; `false` if the file system cannot.
  private func release(_ pages: Range<Int>, pageSize: Int) throws(CacheError) -> Bool {
    guard pages.lowerBound >= Self.metaPages else { throw error(MDB_CORRUPTED, "free space of") }
    var descriptor: mdb_filehandle_t = -1
    mdb_env_get_fd(pointer, &descriptor)
    if clmdb_punch_hole(descriptor, off_t(pages.lowerBound * pageSize), off_t(pages.count * pageSize)) == 0 {
      return true
    }
    guard errno == EOPNOTSUPP || errno == ENOSYS else { throw error(errno, "free space of") }
    return false
  }

  /// The oldest state that a read transaction of any process sees; `nil` if there is none.
  ///
  /// LMDB reports it only as lines of text: process, thread and transaction, which is a hyphen for an idle reader.
  private func oldestReader() -> Int? {
    var lines = ReaderLines()
    withUnsafeMutablePointer(to: &lines) { lines in
      _ = mdb_reader_list(
        pointer,
        { line, context in
          guard let line, let lines = context?.assumingMemoryBound(to: ReaderLines.self) else { return 0 }
          lines.pointee.transactions += String(cString: line).split(whereSeparator: \.isWhitespace).suffix(1)
            .compactMap { Int($0) }
          return 0
        }, lines)
    }
    return lines.transactions.min()
  }

  private struct ReaderLines {
    var transactions: [Int] = []
  }
}

/// The pages that one transaction freed, as ranges. LMDB lists the number of pages, then the pages in descending order.
struct LMDBFreePages: Sequence, IteratorProtocol {
  private var rest: ArraySlice<Int>

  init(_ value: UnsafeRawBufferPointer) {
    let words = value.count / MemoryLayout<Int>.size
    let list = (0..<words).map { value.loadUnaligned(fromByteOffset: $0 * MemoryLayout<Int>.size, as: Int.self) }
    rest = list.dropFirst().prefix(Swift.max(list.first ?? 0, 0))
  }

  /// The next range of adjacent pages.
  mutating func next() -> Range<Int>? {
    guard let highest = rest.popFirst() else { return nil }
    var lowest = highest
    while let page = rest.first, page == lowest - 1 {
      lowest = page
      rest.removeFirst()
    }
    return lowest..<highest + 1
  }
}
