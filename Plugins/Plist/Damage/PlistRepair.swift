internal import EngineSupport
internal import StorageSPI

/// Saves the readable entries of a damaged store.
///
/// It leaves undamaged files alone. For a damaged file, it writes the complete, sound entries to a new file beside it,
/// gives the damaged file a second name, and then renames the new one to the original name: one of the two is in place
/// at every moment. It runs under the exclusive lock.
struct PlistRepair {
  private let folder: PlistFolder
  private let lock: PlistLock
  private let plan: RepairPlan

  /// Prepares the repair of the store of `options`.
  init(
    _ options: PlistOptions, _ plan: RepairPlan, fileSystem: any FileSystem = SystemFileSystem(),
    timer: any PlistTimer = SystemTimer()
  ) {
    folder = PlistFolder(path: options.path, fileSystem: fileSystem)
    lock = PlistLock(folder: folder, wait: PlistWait(timeout: options.busyTimeout, timer: timer))
    self.plan = plan
  }

  /// Repairs the store. If the folder does not exist, there is nothing to repair.
  func run() throws(CacheError) -> RepairReport {
    guard try folder.requireOwn() else { return RepairReport(saved: 0) }
    // A file that is moved aside may hold the only mark of the store.
    try StoreMark(inFolder: folder.path).create()
    var clearance = PlistClearance(folder: folder, suffix: plan.suffix)
    try clearance.moveUnlessFile(folder.lockPath)
    return try lock.hold(exclusively: true) { () throws(CacheError) in
      try clearance.settleJournal()
      try clearance.settleTemporaryFiles()
      return try repair(&clearance)
    }
  }

  /// Reports what `run` would do, and changes nothing. It takes the lock if the lock file exists.
  func preview() throws(CacheError) -> RepairReport {
    guard try folder.requireOwn() else { return RepairReport(saved: 0) }
    guard try folder.status(of: folder.lockPath)?.kind == .regular else { return try examine() }
    return try lock.hold(exclusively: false) { () throws(CacheError) in try examine() }
  }

  private func examine() throws(CacheError) -> RepairReport {
    var (findings, lost) = (Findings(), [IntegrityIssue]())
    func isFile(_ path: String) throws(CacheError) -> Bool? {
      guard let status = try folder.status(of: path) else { return nil }
      if status.kind == .regular { return true }
      lost.append(PlistClearance.issue(path, PlistClearance.noFile))
      return false
    }
    _ = try isFile(folder.lockPath)
    var journal: PlistJournal?
    if try isFile(folder.journalPath) == true, let content = try folder.read(folder.journalPath) {
      journal = try PlistJournal(content.bytes, path: folder.journalPath)
      if journal == nil { lost.append(PlistClearance.issue(folder.journalPath, PlistClearance.noJournal)) }
    }
    let names = Set(try folder.namespaces() + (journal?.replaced ?? [])).subtracting(journal?.removed ?? [])
    for namespace in names.sorted() {
      let (path, isReplaced) = (folder.path(of: namespace), journal?.replaced.contains(namespace) == true)
      // If the temporary file is gone, it already has its final name.
      let next = PlistFolder.temporaryPath(path)
      let nextKind = try isReplaced ? folder.status(of: next)?.kind : nil
      let content = nextKind == .regular ? next : path
      if try isFile(content) == true { findings.add(try examine(namespace, path, content: content)) }
    }
    return RepairReport(saved: findings.saved, lost: lost + findings.lost, mended: findings.mended)
  }

  private func repair(_ clearance: inout PlistClearance) throws(CacheError) -> RepairReport {
    var findings = Findings()
    var replacements: [PlistReplacement.File] = []
    for namespace in try folder.namespaces() {
      let path = folder.path(of: namespace)
      try clearance.moveUnlessFile(path)
      let found = try examine(namespace, path, content: path)
      findings.add(found)
      if found.isDamaged { replacements.append(.init(namespace: namespace, table: found.table, path: path)) }
    }
    let moved = try PlistReplacement(folder: folder, suffix: plan.suffix)(replacements)
    return RepairReport(
      saved: findings.saved, lost: clearance.issues + findings.lost, mended: findings.mended,
      movedTo: clearance.moved + moved)
  }

  /// The findings in all files.
  private struct Findings {
    var saved = 0
    var lost: [IntegrityIssue] = []
    var mended: [IntegrityIssue] = []

    mutating func add(_ file: FileFindings) {
      saved += file.table.entries.count
      lost += file.lost
      mended += file.mended
    }
  }

  /// The entries of a file to keep, and the damage to it.
  private struct FileFindings {
    var table = EntryTable()
    var lost: [IntegrityIssue] = []
    var mended: [IntegrityIssue] = []

    var isDamaged: Bool { !lost.isEmpty || !mended.isEmpty }
  }

  /// Examines the file at `path`; its content is read from `content`.
  private func examine(_ namespace: String, _ path: String, content: String) throws(CacheError) -> FileFindings {
    guard let bytes = try folder.read(content)?.bytes else { return FileFindings() }
    do throws(PlistFormatError) {
      let (table, unsound) = keepSound(try PlistDecoder.decode(bytes, namespace: namespace).entries, path)
      return FileFindings(table: table, lost: unsound)
    } catch {
      let salvage = PlistSalvage(bytes, namespace: namespace, path: path)
      let (table, unsound) = keepSound(salvage.entries, path)
      // A file with a later version number is of that version, unless all its entries are valid in this one.
      let isReallyNewer = error.kind == .newerFormat && !(salvage.isWholeButForItsVersion && unsound.isEmpty)
      if isReallyNewer { throw CacheError(error, path: path) }
      // If an entry with this key is saved, the lost one originally had another key.
      let issues = (salvage.lost + unsound).map { issue in
        let isSaved = issue.key.map { table[$0] != nil } ?? false
        return isSaved ? IntegrityIssue(kind: issue.kind, message: issue.message) : issue
      }
      let file = IntegrityIssue(kind: .structure, message: "\(path): \(error.message)")
      let mended = salvage.mended.isEmpty && issues.isEmpty ? [file] : salvage.mended
      return FileFindings(table: table, lost: issues, mended: mended)
    }
  }

  /// A table of the sound `entries`, and the issues with the others.
  private func keepSound(
    _ entries: some Sequence<(key: CacheKey, value: EntryTable.Entry)>, _ path: String
  ) -> (EntryTable, [IntegrityIssue]) {
    var (sound, unsound): ([CacheKey: EntryTable.Entry], Set<CacheKey>) = ([:], [])
    for (key, entry) in entries {
      if plan.isSound(key, entry.payload.span, entry.metadata) { sound[key] = entry } else { unsound.insert(key) }
    }
    let issues = unsound.sorted().map { key in
      IntegrityIssue(key: key, kind: .checksumMismatch, message: "\(path): \(key) is not what was written")
    }
    return (EntryTable(sound), issues)
  }
}
