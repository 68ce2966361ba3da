internal import StorageSPI

/// Saves what can be read of a damaged store.
///
/// A file in which nothing is wrong stays as it is. Of another the entries that are whole and sound are written to a new
/// file beside it; the damaged one gets a second name, and then the new one takes its place: at every instant one of the
/// two is there. It runs under the exclusive lock.
struct PlistRepair {
  let folder: PlistFolder
  let plan: RepairPlan

  /// Repairs the store of `options`. Where there is no folder, there is nothing to repair.
  static func run(
    _ options: PlistOptions, _ plan: RepairPlan, fileSystem: any FileSystem = SystemFileSystem(),
    timer: any PlistTimer = SystemTimer()
  ) throws(StorageError) -> RepairReport {
    let folder = PlistFolder(path: options.path, fileSystem: fileSystem)
    guard try folder.status(of: folder.path) != nil else { return RepairReport(saved: 0) }
    var clearance = PlistClearance(folder: folder, suffix: plan.suffix)
    try clearance.moveUnlessFile(folder.lockPath)
    let lock = PlistLock(folder: folder, wait: PlistWait(timeout: options.busyTimeout, timer: timer))
    return try lock.hold(exclusively: true) { () throws(StorageError) in
      try clearance.settleJournal()
      try clearance.settleTemporaryFiles()
      return try PlistRepair(folder: folder, plan: plan).repair(&clearance)
    }
  }

  private func repair(_ clearance: inout PlistClearance) throws(StorageError) -> RepairReport {
    var (saved, lost): (Int, [IntegrityIssue]) = (0, [])
    var replacements: [PlistReplacement.File] = []
    for namespace in try folder.namespaces() {
      let path = folder.path(of: namespace)
      try clearance.moveUnlessFile(path)
      let (table, issues) = try examine(namespace, path)
      saved += table.entries.count
      lost += issues
      if !issues.isEmpty { replacements.append(.init(namespace: namespace, table: table, path: path)) }
    }
    let moved = try PlistReplacement(folder: folder, suffix: plan.suffix)(replacements)
    return RepairReport(saved: saved, lost: clearance.issues + lost, movedTo: clearance.moved + moved)
  }

  /// The entries of a file that are to be kept, and what is wrong with it.
  private func examine(_ namespace: String, _ path: String) throws(StorageError) -> (EntryTable, [IntegrityIssue]) {
    guard let bytes = try folder.read(path)?.bytes else { return (EntryTable(), []) }
    do throws(PlistFormatError) {
      return keepSound(try PlistDecoder.decode(bytes, namespace: namespace).entries, path)
    } catch {
      let salvage = PlistSalvage(bytes, namespace: namespace, path: path)
      let (table, unsound) = keepSound(salvage.entries, path)
      // A file is of a later version unless it is, entry for entry, one of this version.
      let isReallyNewer = error.kind == .newerFormat && !(salvage.isWholeButForItsVersion && unsound.isEmpty)
      if isReallyNewer { throw StorageError(error, path: path) }
      // Where an entry of a name is saved, what is lost had another name once.
      let issues = (salvage.lost + unsound).map { issue in
        let isSaved = issue.key.map { table[$0] != nil } ?? false
        return isSaved ? IntegrityIssue(kind: issue.kind, message: issue.message) : issue
      }
      let file = IntegrityIssue(kind: .structure, message: "\(path): \(error.message)")
      return (table, issues.isEmpty ? [file] : issues)
    }
  }

  /// A table of those `entries` that are sound, and what is wrong with the others.
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
