internal import StorageSPI

/// Replaces the files of namespaces, all or none.
///
/// One file is replaced by giving a complete new one its name. For several, a journal decides: see `PlistJournal`. It
/// runs under the exclusive lock.
struct PlistCommit {
  /// The next content of a namespace's file.
  struct Change {
    let namespace: String
    let table: EntryTable
    /// The content that it replaces.
    let before: EntryTable
  }

  let folder: PlistFolder
  let durability: Durability

  /// Makes all `changes`, or throws and makes none.
  ///
  /// - Returns: the files now in place, in the order of `changes`; `nil` where that is left to whoever takes the lock
  ///   next, because finishing the commit failed after it had begun to count.
  func callAsFunction(_ changes: [Change]) throws(StorageError) -> [PlistFile]? {
    let files = try prepare(changes)
    switch changes.count {
    case 0: break
    case 1: try publish(changes[0])
    default: guard try publishWithJournal(changes) else { return nil }
    }
    return status(of: files)
  }

  /// Writes the temporary files of all changes, or none.
  private func prepare(_ changes: [Change]) throws(StorageError) -> [PlistFile] {
    try undoing(changes) { () throws(StorageError) in
      var files: [PlistFile] = []
      for change in changes { files.append(try prepare(change.table, change.namespace, durability != .relaxed)) }
      return files
    }
  }

  private func prepare(
    _ table: EntryTable, _ namespace: String, _ synchronized: Bool
  ) throws(StorageError) -> PlistFile {
    let path = folder.path(of: namespace)
    guard !table.entries.isEmpty else { return PlistFile(path: path, table: table) }
    let (bytes, temporary) = (PlistEncoder.encode(table, namespace: namespace), PlistFolder.temporaryPath(path))
    try folder.remove(temporary)
    let file = try folder.write(bytes, to: temporary, synchronized: synchronized)
    return PlistFile(path: path, table: table, file: file)
  }

  /// Runs `body`; where it throws, removes what may have been written before it did.
  private func undoing<Output>(
    _ changes: [Change], _ body: () throws(StorageError) -> Output
  ) throws(StorageError) -> Output {
    do {
      return try body()
    } catch {
      // What cannot be removed now is removed by a later writer: the first error is the one to report.
      for change in changes { try? folder.remove(PlistFolder.temporaryPath(folder.path(of: change.namespace))) }
      throw error
    }
  }

  private func publish(_ change: Change) throws(StorageError) {
    try undoing([change]) { () throws(StorageError) in try rename(change.table, change.namespace) }
    guard durability == .full else { return }
    do {
      try folder.synchronize()
    } catch {
      // The new file has its name, but may lose it: only the old content makes "nothing was changed" true.
      _ = try? prepare(change.before, change.namespace, false)
      try? rename(change.before, change.namespace)
      throw error
    }
  }

  private func rename(_ table: EntryTable, _ namespace: String) throws(StorageError) {
    let path = folder.path(of: namespace)
    if table.entries.isEmpty {
      try folder.remove(path)
    } else {
      try folder.rename(PlistFolder.temporaryPath(path), to: path)
    }
  }

  /// Whether all files have their names; otherwise the journal is in place and will see to it.
  private func publishWithJournal(_ changes: [Change]) throws(StorageError) -> Bool {
    try undoing(changes) { () throws(StorageError) in try writeJournal(changes) }
    do {
      try folder.finishJournal(synchronized: durability != .relaxed)
      return true
    } catch {
      return false
    }
  }

  private func writeJournal(_ changes: [Change]) throws(StorageError) {
    let journal = PlistJournal(
      replaced: changes.filter { !$0.table.entries.isEmpty }.map(\.namespace),
      removed: changes.filter { $0.table.entries.isEmpty }.map(\.namespace))
    let temporary = PlistFolder.temporaryPath(folder.journalPath)
    do {
      try folder.remove(temporary)
      _ = try folder.write(Array(journal.text.utf8), to: temporary, synchronized: durability != .relaxed)
      try folder.rename(temporary, to: folder.journalPath)
      if durability != .relaxed { try folder.synchronize() }
    } catch {
      try? folder.remove(temporary)
      try? folder.remove(folder.journalPath)
      throw error
    }
  }

  /// The files with their status, which renaming has changed; `nil` where it cannot be had, so that they are read again.
  private func status(of files: [PlistFile]) -> [PlistFile]? {
    try? files.map { file in
      guard let handle = file.file else { return file }
      return PlistFile(
        path: file.path, table: file.table, file: handle, status: try folder.fileSystem.status(of: handle))
    }
  }
}
