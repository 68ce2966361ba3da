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
    do throws(StorageError) {
      var files: [PlistFile] = []
      for change in changes { files.append(try prepare(change.table, change.namespace, durability != .relaxed)) }
      return files
    } catch {
      removeTemporaryFiles(of: changes)
      throw error
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

  /// Removes what may have been written. What cannot be removed now is removed by a later writer.
  private func removeTemporaryFiles(of changes: [Change]) {
    for change in changes { try? folder.remove(PlistFolder.temporaryPath(folder.path(of: change.namespace))) }
  }

  private func publish(_ change: Change) throws(StorageError) {
    do throws(StorageError) {
      try rename(change.table, change.namespace)
    } catch {
      removeTemporaryFiles(of: [change])
      throw error
    }
    guard durability == .full else { return }
    do throws(StorageError) {
      try folder.synchronize()
    } catch {
      // The new file has its name, but may lose it: only the old content makes "nothing was changed" true.
      try? putBack(change)
      throw error
    }
  }

  /// Replaces what was published by what was there before, if all of that can be written: part of it would be less than
  /// either.
  private func putBack(_ change: Change) throws(StorageError) {
    let before = try prepare(before: change)
    // A disk that cannot do that any more may still keep what was written for as long as it has power.
    if let file = before.file { try? folder.fileSystem.synchronize(file) }
    try rename(change.before, change.namespace)
  }

  private func prepare(before change: Change) throws(StorageError) -> PlistFile {
    do throws(StorageError) {
      return try prepare(change.before, change.namespace, false)
    } catch {
      removeTemporaryFiles(of: [change])
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
    do throws(StorageError) {
      try writeJournal(changes)
    } catch {
      try? folder.remove(PlistFolder.temporaryPath(folder.journalPath))
      // A journal that cannot be withdrawn still needs its files.
      if (try? folder.remove(folder.journalPath)) != nil { removeTemporaryFiles(of: changes) }
      throw error
    }
    return (try? folder.finishJournal(synchronized: durability != .relaxed)) != nil
  }

  private func writeJournal(_ changes: [Change]) throws(StorageError) {
    let journal = PlistJournal(
      replaced: changes.filter { !$0.table.entries.isEmpty }.map(\.namespace),
      removed: changes.filter { $0.table.entries.isEmpty }.map(\.namespace))
    let temporary = PlistFolder.temporaryPath(folder.journalPath)
    try folder.remove(temporary)
    _ = try folder.write(Array(journal.text.utf8), to: temporary, synchronized: durability != .relaxed)
    try folder.rename(temporary, to: folder.journalPath)
    if durability != .relaxed { try folder.synchronize() }
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
