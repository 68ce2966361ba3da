internal import CLMDB
internal import Platform
internal import StorageSPI

/// Checks that look at the whole store.
extension LMDBEnvironment {
  /// Reads every entry of every database, and compares the tally. LMDB reports few damaged pages itself; others can end
  /// the process.
  func integrityIssues() throws(CacheError) -> [IntegrityIssue] {
    do throws(CacheError) {
      _ = try LMDBDataFile.check(in: path)
      return try withReader { reader throws(CacheError) in
        try reader.withDatabases { transaction, databases throws(CacheError) in
          var issues: [IntegrityIssue] = []
          var counted = EntryTally()
          for database in databases { try transaction.check(database, &issues, &counted) }
          try transaction.forEachFreeRange(freedBefore: .max) { _ in true }
          // An undecodable entry is in the tally but cannot be counted here, and has been reported already.
          if issues.isEmpty, let kept = try transaction.keptTally(), kept != counted {
            issues.append(IntegrityIssue(kind: .structure, message: "the tally of \(path) disagrees with its entries"))
          }
          return issues
        }
      }
    } catch  where error.code == .damaged {
      return [IntegrityIssue(kind: .structure, message: error.message)]
    }
  }
}

extension LMDBTransaction {
  fileprivate func check(
    _ database: LMDBDatabase, _ issues: inout [IntegrityIssue], _ counted: inout EntryTally
  ) throws(CacheError) {
    var last: UnsafeRawBufferPointer?
    try forEachItem(in: database.handle) { item throws(CacheError) in
      if let last, byteOrder(last, item.key) >= 0 {
        throw .lmdb(.damaged("the keys of namespace \(database.namespace.name) are out of order"), in: environment.path)
      }
      last = item.key
      if let (slot, count) = LMDBSlot.counting(item.value, in: database.namespace) { counted.add(count, to: slot.slot) }
      if let issue = issue(with: item, in: database.namespace.name) { issues.append(issue) }
    }
  }

  private func issue(with item: LMDBCursor.Item, in namespace: String) -> IntegrityIssue? {
    var key: CacheKey?
    do throws(CacheError) {
      let bytes = LMDBKeyCoding.isShortened(item.key) ? try fullKey(of: item.value, storedAs: item.key) : item.key
      let name = try CacheKey(stored: bytes, namespace: namespace, path: environment.path)
      key = name
      if LMDBKeyCoding.isShortened(item.key), !environment.keyCoding.isShortened(item.key, of: bytes) {
        throw .lmdb(.damaged("it is stored under another key than its own"), in: "entry \(name)")
      }
      _ = try decoding(name) { () throws(LMDBFault) in try LMDBEntry(item.value).metadata() }
      return nil
    } catch {
      return IntegrityIssue(key: key, kind: .undecodable, message: error.message)
    }
  }

  /// Leaves undecodable entries alone, because it is unknown whether they have expired.
  fileprivate func removeExpired(
    at time: Timestamp, in database: LMDBDatabase, _ tally: inout LMDBTallyChange
  ) throws(CacheError) {
    try withCursor(on: database.handle) { cursor throws(CacheError) in
      var item = try cursor.first()
      while let (_, value) = item {
        if let until = try? LMDBEntry(value).retainUntil(), time >= until {
          try requireRightSize(value)
          try tally.remove(value, in: database.namespace)
          try cursor.remove()
        }
        item = try cursor.next()
      }
    }
  }
}

/// Returns free pages to the file system. LMDB itself reuses them, but keeps them in the file.
///
/// The pages become holes in the file, which take up no space and read as zeros. This is safe while other processes use
/// the store, under two conditions. No process may start to reuse a page meanwhile: so it holds the write transaction,
/// of which there is only one at a time. And no state that a reader sees, or that LMDB may fall back to after a crash,
/// may contain the page. Transaction N lists the pages that are not part of state N and later ones. So only the lists
/// of transactions before the last one and before every reader are used, just as LMDB does when it reuses pages.
extension LMDBEnvironment {
  /// Removes the entries that are expired at `time`, and turns free pages into holes. If there is no room to remove
  /// anything, it makes the holes first, to gain some.
  ///
  /// - Throws: `damaged` if LMDB, or a look at the list of free pages, finds damage.
  func compact(at time: Timestamp, _ durability: Durability) throws(CacheError) {
    guard !isReadOnly else { throw error(EACCES, "write to") }
    do throws(CacheError) {
      try removeExpired(at: time, durability)
    } catch {
      guard error.isWantOfRoom else { throw error }
      try releaseFreePages()
      try removeExpired(at: time, durability)
    }
    try releaseFreePages()
  }

  /// Removes the entries that are expired at `time`, in one transaction. The freed pages stay in the file.
  private func removeExpired(at time: Timestamp, _ durability: Durability) throws(CacheError) {
    let namespaces = try withSnapshot { transaction throws(CacheError) in try transaction.namespaces() }
    let needed = namespaces.map { LMDBNamespaceUse(namespace: $0, creates: false) }
    try change(needed, bytes: Self.mapGranularity, durability) { transaction, databases, tally throws(CacheError) in
      for database in databases { try transaction.removeExpired(at: time, in: database, &tally) }
    }
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
    try reader.forEachFreeRange(freedBefore: limit) { pages throws(CacheError) in
      try release(pages, pageSize: Int(stat.ms_psize))
    }
  }

  /// Turns the pages into a hole; `false` if the file system cannot.
  private func release(_ pages: Range<Int>, pageSize: Int) throws(CacheError) -> Bool {
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

/// The list of free pages.
enum LMDBFreePages {
  /// The handle of its database, a constant of LMDB.
  static let database: MDB_dbi = 0

  /// The ranges of adjacent pages in a list. LMDB lists the number of pages, then the pages in descending order.
  ///
  /// - Throws: `damaged` if there are pages that cannot be free.
  static func ranges(_ list: UnsafeRawBufferPointer, lastPage: Int) throws(LMDBFault) -> [Range<Int>] {
    let words = list.count / MemoryLayout<Int>.size
    func word(_ index: Int) -> Int { list.loadUnaligned(fromByteOffset: index * MemoryLayout<Int>.size, as: Int.self) }
    guard words > 0, (0..<words).contains(word(0)) else { throw .damaged("its list of free pages is cut off") }
    var ranges: [Range<Int>] = []
    var last = lastPage + 1
    for index in 0..<word(0) {
      let page = word(index + 1)
      // The first two pages are the meta pages.
      guard page >= 2, page < last else { throw .damaged("its list of free pages is out of order") }
      if ranges.last?.lowerBound == page + 1, let range = ranges.popLast() {
        ranges.append(page..<range.upperBound)
      } else {
        ranges.append(page..<page + 1)
      }
      last = page
    }
    return ranges
  }
}

extension LMDBTransaction {
  /// Calls `body` with each range of free pages that a transaction before `limit` freed, until `body` returns `false`.
  fileprivate func forEachFreeRange(
    freedBefore limit: Int, _ body: (Range<Int>) throws(CacheError) -> Bool
  ) throws(CacheError) {
    var info = MDB_envinfo()
    mdb_env_info(environment.pointer, &info)
    try withCursor(on: LMDBFreePages.database) { cursor throws(CacheError) in
      var item = try cursor.first()
      while let (key, value) = item {
        guard key.count == MemoryLayout<Int>.size else {
          throw .lmdb(.damaged("its list of free pages has an impossible key"), in: environment.path)
        }
        guard key.loadUnaligned(as: Int.self) < limit else { return }
        let ranges: [Range<Int>]
        do throws(LMDBFault) { ranges = try LMDBFreePages.ranges(value, lastPage: info.me_last_pgno) } catch {
          throw .lmdb(error, in: environment.path)
        }
        for range in ranges where try !body(range) { return }
        item = try cursor.next()
      }
    }
  }

  /// Where the map begins; `nil` if nothing tells.
  ///
  /// LMDB does not say it. But the first eight bytes of any page are its number, and the summary is in the first page of
  /// those that hold it. The file confirms the number.
  func mapStart() throws(CacheError) -> UnsafeRawPointer? {
    var stat = MDB_stat()
    mdb_env_stat(environment.pointer, &stat)
    let size = Int(stat.ms_psize)
    // The map begins at a page of the system, which a store from another machine may exceed.
    guard size <= Int(getpagesize()), let record = try summaryRecord()?.baseAddress,
      let page = UnsafeRawPointer(bitPattern: UInt(bitPattern: record) & ~UInt(size - 1)),
      let number = Int(exactly: page.load(as: UInt64.self)), number < Int.max / size
    else { return nil }
    var descriptor: mdb_filehandle_t = -1
    mdb_env_get_fd(environment.pointer, &descriptor)
    let isConfirmed = withUnsafeTemporaryAllocation(byteCount: size, alignment: 8) { copy in
      pread(descriptor, copy.baseAddress, size, off_t(number * size)) == size
        && byteOrder(UnsafeRawBufferPointer(copy), UnsafeRawBufferPointer(start: page, count: size)) == 0
    }
    return isConfirmed ? page - number * size : nil
  }
}

extension LMDBReader {
  /// Removes the file's pages from this process's memory; they stay in the system's cache. Concurrent readers find them
  /// there again.
  func releaseMappedPages() throws(CacheError) {
    try withSnapshot { transaction throws(CacheError) in
      guard let start = try transaction.mapStart() else { return }
      let (size, used) = LMDBEnvironment.mapUse(of: environment.pointer)
      // Another process may have grown the file beyond this map; the memory behind it is unrelated. It is not an error
      // if the system ignores the advice.
      madvise(UnsafeMutableRawPointer(mutating: start), min(size, used), MADV_DONTNEED)
    }
  }
}
