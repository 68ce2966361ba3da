internal import CLMDB
internal import EngineAPI
internal import CacheBase

/// Checks that look at the whole store.
extension LMDBEnvironment {
  /// Reads every entry of every database, and compares the count. LMDB reports few damaged pages itself; others can end
  /// the process.
  func integrityIssues() throws(CacheError) -> [IntegrityIssue] {
    do throws(CacheError) {
      try LMDBDataFile(in: files.directory)?.check()
      try requireWholeFile()
      return try withDatabases { transaction, databases throws(CacheError) in
        var issues: [IntegrityIssue] = []
        for database in databases { issues += try transaction.issues(in: database) }
        // An undecodable entry might be in the count, and has been reported already.
        let kept = try issues.isEmpty ? transaction.keptCount() : nil
        if let kept, try !kept.isRight(for: transaction.counted(databases)) {
          issues.append(
            IntegrityIssue(kind: .structure, message: "the count of \(files.directory) disagrees with its entries"))
        }
        return issues
      }
    } catch {
      guard error.code == .damaged else { throw error }
      return [IntegrityIssue(kind: .structure, message: error.message)]
    }
  }
}

extension StoreCount {
  /// Whether this can be the count of a store with the entries that `counted` counts.
  func isRight(for counted: StoreCount) -> Bool {
    namespaces.count == counted.namespaces.count
      && namespaces.allSatisfy { name, count in
        let found = counted[name]
        return count.entries == found.entries && count.payloadBytes == found.payloadBytes
          && count.earliestExpiry <= found.earliestExpiry
      }
  }
}

extension LMDBTransaction {
  fileprivate func issues(in database: LMDBDatabase) throws(CacheError) -> [IntegrityIssue] {
    var issues: [IntegrityIssue] = []
    try forEachItem(in: database.handle) { item throws(CacheError) in
      var key: CacheKey?
      do throws(CacheError) {
        let name = try self.key(of: item, in: database)
        key = name
        guard EncodedEntry(item.value)?.metadata() != nil else { throw .unreadable(name) }
        // The search also fails if keys are out of order.
        let found = try name.withBytes { bytes throws(CacheError) in try value(ofKey: bytes, in: database.handle) }
        guard found?.baseAddress == item.value.baseAddress else {
          throw .unreadable(name, "it is stored under another key than its own")
        }
      } catch {
        issues.append(IntegrityIssue(key: key, kind: .undecodable, message: error.message))
      }
    }
    return issues
  }
}

/// Returns free pages to the file system. LMDB itself reuses them, but keeps them in the file.
///
/// The pages become holes in the file, which take up no space and read as zeros. This is safe while other processes use
/// the store, under two conditions. No process must start to reuse a page meanwhile: so it holds the write
/// transaction, of which there is only one at a time. And no state that a reader sees, or that LMDB can fall back to
/// after a crash, can contain the page. Transaction N lists the pages that are not part of state N and later ones. So
/// only the lists of transactions before the last one and before every reader are used, just as LMDB does when it
/// reuses pages.
extension LMDBEnvironment {
  /// Removes the entries that are expired at `time`, and turns free pages into holes. If there is no room to remove
  /// anything, it makes the holes first, to gain some.
  ///
  /// - Throws: `damaged` if LMDB, or a look at the list of free pages, finds damage.
  func compact(at time: Timestamp, _ durability: Durability) throws(CacheError) {
    func removeExpired() throws(CacheError) {
      try change(durability) { writer throws(CacheError) in
        try writer.removeExpired(at: time)
      }
    }
    do throws(CacheError) { try removeExpired() } catch {
      guard error.isWantOfRoom else { throw error }
      try releaseFreePages()
      try removeExpired()
    }
    try releaseFreePages()
  }

  /// Turns the free pages into holes. Does nothing if the file system does not support it.
  private func releaseFreePages() throws(CacheError) {
    mdb_reader_check(pointer, nil)
    do throws(CacheError) {
      // Then the pages freed by the transaction before are no longer part of the last state but one.
      try change(.full) { $0.hasChanged = true }
    } catch {
      // Then they wait until the next time.
      guard error.isWantOfRoom else { throw error }
    }
    gate.enter()
    defer { gate.leave() }
    try growingMap { () throws(CacheError) in
      let writer = try beginWriting(.full)
      defer { writer.abort() }
      try check(mdb_env_sync(pointer, 1), "write to")
      // LMDB shows the list of free pages only to read transactions.
      let reader = try LMDBTransaction(self, flags: MDB_RDONLY)
      defer { reader.abort() }
      for pages in try reader.freePages(freedBefore: min(writer.number - 1, oldestReader)) where try !release(pages) {
        return
      }
    }
  }

  /// Turns the pages into a hole; `false` if the file system cannot.
  private func release(_ pages: Range<Int>) throws(CacheError) -> Bool {
    let (start, count) = (off_t(pages.lowerBound * pageSize), off_t(pages.count * pageSize))
    if clmdb_punch_hole(descriptor, start, count) == 0 { return true }
    guard errno == EOPNOTSUPP || errno == ENOSYS else { throw error(errno, "free space of") }
    return false
  }

  /// The oldest state that a read transaction of any process sees.
  ///
  /// LMDB reports it only as lines of text: process, thread and transaction, which is a hyphen for an idle reader.
  private var oldestReader: Int {
    var oldest = Int.max
    mdb_reader_list(
      pointer,
      { line, oldest in
        let last = line.map { String(cString: $0) }?.split(whereSeparator: \.isWhitespace).last
        guard let number = last.flatMap({ Int($0) }), let oldest else { return 0 }
        oldest.assumingMemoryBound(to: Int.self).pointee = min(oldest.load(as: Int.self), number)
        return 0
      }, &oldest)
    return oldest
  }
}

/// The list of free pages.
enum LMDBFreePages {
  /// The ranges of adjacent pages in a list; `nil` if there are pages that cannot be free. LMDB lists the number of pages,
  /// then the pages in descending order.
  static func ranges(_ list: UnsafeRawBufferPointer, lastPage: Int) -> [Range<Int>]? {
    let words = list.count / MemoryLayout<Int>.size
    func word(_ index: Int) -> Int { list.number(at: index * MemoryLayout<Int>.size, as: Int.self) }
    guard words > 0, (0..<words).contains(word(0)) else { return nil }
    var ranges: [Range<Int>] = []
    var last = lastPage + 1
    for index in 0..<word(0) {
      let page = word(index + 1)
      // The first two pages are the meta pages.
      guard page >= 2, page < last else { return nil }
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
  func freePages(freedBefore limit: Int) throws(CacheError) -> [Range<Int>] {
    let lastPage = environment.mapUse.used / environment.pageSize - 1
    var pages: [Range<Int>] = []
    try forEachItem(in: LMDBEnvironment.freeList) { item throws(CacheError) in
      guard item.key.count == MemoryLayout<Int>.size,
        let ranges = LMDBFreePages.ranges(item.value, lastPage: lastPage)
      else { throw .damagedLMDB(environment.files.data, "its list of free pages is not valid") }
      if item.key.number(at: 0, as: Int.self) < limit { pages += ranges }
    }
    return pages
  }
}
