internal import CLMDB
internal import Glibc
internal import StorageSPI

/// Giving free pages back to the file system: LMDB itself uses them again, but keeps them in the file.
///
/// The pages become holes in the file, which take up no space and read as zeros. It may be done while other processes
/// use the store, under two conditions. Nobody may begin to use a page again meanwhile: a transaction for writing, of
/// which there is one at a time, is held. And no state that somebody sees, or that LMDB may fall back to after a crash,
/// may hold the page: transaction N lists the pages that are not part of state N and later ones, so only the lists of
/// transactions before the last one and before every reader are taken, as LMDB does when it uses pages again.
extension LMDBEnvironment {
  /// The handle of the database of free pages, a constant of LMDB.
  private static let freeList: MDB_dbi = 0
  /// The first pages of the file, which are never free.
  private static let metaPages = 2

  /// Removes the entries that are expired at `time`, and makes holes of the free pages. Where there is no room to remove
  /// anything, the holes come first and make some.
  func compact(at time: Timestamp, _ durability: Durability) throws(StorageError) {
    do throws(StorageError) {
      try removeExpired(at: time, durability)
    } catch {
      guard error.isWantOfRoom else { throw error }
      try releaseFreePages()
      try removeExpired(at: time, durability)
    }
    try releaseFreePages()
  }

  /// Makes holes of the free pages. Without support by the file system it does nothing.
  ///
  /// - Throws: `damaged`, before anything is changed, where the structure is: a wrong list would name pages in use.
  func releaseFreePages() throws(StorageError) {
    guard !isReadOnly else { throw error(EACCES, "write to") }
    try checkStructure(.full)
    mdb_reader_check(pointer, nil)
    do throws(StorageError) {
      try commitNothing()
    } catch {
      // Then what the last transaction freed stays for the next time.
      guard error.isWantOfRoom else { throw error }
    }
    try growing(for: Self.mapGranularity) { () throws(StorageError) in
      let writer = try beginWriting(.full)
      defer { writer.abort() }
      let status = mdb_env_sync(pointer, 1)
      guard status == MDB_SUCCESS else { throw error(status, "write to") }
      try releaseFreePages(freedBefore: min(writer.number - 1, oldestReader() ?? .max))
    }
  }

  /// Commits a transaction that changes nothing but its number, so that what the one before it freed is no longer part
  /// of the last state but one.
  private func commitNothing() throws(StorageError) {
    try change([], bytes: Self.mapGranularity, .full) { _, _, tally throws(StorageError) in
      try tally.writeSummary()
    }
  }

  /// LMDB lends the list of free pages to transactions for reading only.
  private func releaseFreePages(freedBefore limit: Int) throws(StorageError) {
    let reader = try LMDBTransaction(self, flags: MDB_RDONLY)
    defer { reader.abort() }
    var stat = MDB_stat()
    mdb_env_stat(pointer, &stat)
    try reader.withCursor(on: Self.freeList) { cursor throws(StorageError) in
      var item = try cursor.first()
      while let (key, value) = item, key.loadUnaligned(as: Int.self) < limit {
        for pages in LMDBFreePages(value) where try !release(pages, pageSize: Int(stat.ms_psize)) { return }
        item = try cursor.next()
      }
    }
  }

  /// Makes a hole of the pages; `false` where the file system cannot.
  private func release(_ pages: Range<Int>, pageSize: Int) throws(StorageError) -> Bool {
    guard pages.lowerBound >= Self.metaPages else { throw error(MDB_CORRUPTED, "free space of") }
    var descriptor: mdb_filehandle_t = -1
    mdb_env_get_fd(pointer, &descriptor)
    let mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE
    if fallocate(descriptor, mode, pages.lowerBound * pageSize, pages.count * pageSize) == 0 { return true }
    guard errno == EOPNOTSUPP || errno == ENOSYS else { throw error(errno, "free space of") }
    return false
  }

  /// The oldest state that a transaction for reading sees, of any process; `nil` where there is none.
  ///
  /// LMDB tells it only as lines of text: process, thread and transaction, the last a hyphen for an idle reader.
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

/// The pages that one transaction freed, as ranges: LMDB lists their number, then the pages, the highest first.
struct LMDBFreePages: Sequence, IteratorProtocol {
  private var rest: ArraySlice<Int>

  init(_ value: UnsafeRawBufferPointer) {
    let words = value.count / MemoryLayout<Int>.size
    let list = (0..<words).map { value.loadUnaligned(fromByteOffset: $0 * MemoryLayout<Int>.size, as: Int.self) }
    rest = list.dropFirst().prefix(Swift.max(list.first ?? 0, 0))
  }

  /// The next range of neighbouring pages.
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
