internal import StorageSPI

/// Saves the readable entries of a damaged store.
struct SQLiteRepair {
  let options: SQLiteOptions
  let plan: RepairPlan
  /// Called between the steps that change files, so that a test can simulate a crash there.
  var observe: () throws(CacheError) -> Void = { () throws(CacheError) in }

  private var path: String { options.path }

  /// Repairs the store, unless it is undamaged.
  func run() throws(CacheError) -> RepairReport {
    guard try SQLiteFiles.sizeOfStore(at: path) != nil else { return RepairReport(saved: 0) }
    // SQLite drops the damaged end of a log when it opens the store, so check first.
    let logDamage = try SQLiteLogDamage.found(at: path, .possible)
    if logDamage == nil, let entries = try soundEntries() { return RepairReport(saved: entries) }
    var report = RepairReport(saved: 0)
    try SQLiteFiles.withLock(onFolder: SQLiteFiles.folder(of: path), timeout: options.busyTimeout) {
      () throws(CacheError) in report = try replaceStore()
    }
    return report
  }

  /// Reports what `run` would do, and changes nothing. It does not open the store with SQLite, which would create files
  /// beside it.
  func preview() throws(CacheError) -> RepairReport {
    guard try SQLiteFiles.sizeOfStore(at: path) != nil else { return RepairReport(saved: 0) }
    let pages = try SQLitePages(try fileToRead(), log: path + "-wal")
    let marks = SQLiteMarks(pages)
    try marks.requireStore(path)
    var keys = Set<CacheKey>()
    var salvage = SQLiteSalvage(pages, plan) { keys.insert($0.key).inserted }
    let findings = try salvage.run(roots: marks.roots) { keys.contains($0) }
    return report(keys.count, findings, pages, marks)
  }

  /// The file, locked against other processes; unlocked if it is read-only.
  private func fileToRead() throws(CacheError) -> SQLiteFile {
    do throws(CacheError) {
      return try SQLiteFile.locked(path, timeout: options.busyTimeout)
    } catch {
      guard [.permissionDenied, .ioFailed].contains(error.code) else { throw error }
      return try SQLiteFile(path)
    }
  }

  /// The number of entries; `nil` if there is any damage.
  private func soundEntries() throws(CacheError) -> Int? {
    do throws(CacheError) {
      guard try SQLiteFiles.storeExists(at: path) else { return nil }
      let reader = try SQLiteReader(path: path, busyTimeout: options.busyTimeout)
      guard try reader.checkIntegrity().isEmpty, try reader.checkEntries(plan.isSound) else { return nil }
      return try reader.tally().total().entries
    } catch {
      // Whatever stops SQLite, the pages may still be readable without it. A file that it blames on another application
      // may be a store with damaged marks.
      if [.busy, .permissionDenied].contains(error.code) { throw error }
      return nil
    }
  }

  private func replaceStore() throws(CacheError) -> RepairReport {
    let file = try SQLiteFile.locked(path, timeout: options.busyTimeout)
    let pages = try SQLitePages(file, log: path + "-wal")
    let marks = SQLiteMarks(pages)
    try marks.requireStore(path)
    let exchange = SQLiteExchange(path: path, suffix: plan.suffix, pages: pages, observe: observe)
    defer { exchange.removeDrafts() }
    let (saved, findings) = try save(pages, marks, to: exchange.draft)
    let moved = try exchange.run()
    let found = report(saved, findings, pages, marks)
    let isUnexplained = found.lost.isEmpty && found.mended.isEmpty
    let unexplained = IntegrityIssue(kind: .structure, message: "\(path) was made anew: SQLite finds fault with it")
    return RepairReport(
      saved: saved, lost: found.lost, mended: isUnexplained ? [unexplained] : found.mended, movedTo: moved)
  }

  private func report(
    _ saved: Int, _ findings: SQLiteSalvage.Findings, _ pages: SQLitePages, _ marks: SQLiteMarks
  ) -> RepairReport {
    var (lost, mended) = (findings.lost, findings.mended)
    func issue(_ message: String) -> IntegrityIssue { IntegrityIssue(kind: .structure, message: path + message) }
    if pages.log.isDamaged {
      lost.append(IntegrityIssue(kind: .structure, message: SQLiteLogDamage.message(path)))
    }
    if !marks.isDatabase { mended.append(issue(" does not begin as a database does")) }
    if marks.isDatabase, marks.format == nil { mended.append(issue(" has damaged marks")) }
    return RepairReport(saved: saved, lost: lost, mended: mended)
  }

  /// Builds a new store at `draft` from everything that can be read.
  private func save(
    _ pages: SQLitePages, _ marks: SQLiteMarks, to draft: String
  ) throws(CacheError) -> (saved: Int, SQLiteSalvage.Findings) {
    try SQLiteCreation.createDraft(draft)
    let writer = try SQLiteWriter(SQLiteOptions(path: draft, options), busyTimeout: 0)
    // No one else knows of the draft, and it is thrown away on any failure.
    try writer.connection.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
    var (saved, findings) = (0, SQLiteSalvage.Findings())
    try writer.transaction { () throws(CacheError) in
      var salvage = SQLiteSalvage(pages, plan) { entry throws(CacheError) in
        let isNew = try writer.storedChecksum(of: entry.key) == nil
        if isNew { try writer.apply(.put(entry.key, payload: entry.payload, entry.metadata)) }
        saved += isNew ? 1 : 0
        return isNew
      }
      findings = try salvage.run(roots: marks.roots) { key throws(CacheError) in
        try writer.storedChecksum(of: key) != nil
      }
    }
    try writer.connection.execute("PRAGMA journal_mode = WAL")
    return (saved, findings)
  }
}

extension SQLiteReader {
  /// Whether every entry still has the content that was written.
  fileprivate func checkEntries(
    _ isSound: (CacheKey, Span<UInt8>, EntryMetadata) -> Bool
  ) throws(CacheError) -> Bool {
    let statement = try SQLiteStatement(SQLiteSchema.everything, on: connection)
    while try statement.step() {
      let key = try Self.key(of: statement, column: SQLiteRow.firstOwnColumn + 1)
      let metadata = try row.metadata(of: statement, key: key.text)
      guard isSound(key, try SQLiteRow.payload(of: statement, key: key.text).span, metadata) else { return false }
    }
    return true
  }
}
