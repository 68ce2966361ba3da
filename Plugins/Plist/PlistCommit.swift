internal import EngineSupport
internal import StorageSPI

/// Replaces the files of several namespaces: all or none.
///
/// A single file is replaced by renaming a complete new one to its name. For several, a journal decides: see
/// `PlistJournal`. It runs under the exclusive lock.
struct PlistCommit {
  /// The new content of a namespace's file.
  struct Change {
    let namespace: String
    var table: EntryTable
    /// The content to be replaced.
    let before: EntryTable
  }

  let folder: PlistFolder
  let durability: Durability

  /// Makes all `changes`, or throws and makes none.
  ///
  /// - Returns: the files now in place, in the order of `changes`. It is `nil` if finishing the commit failed after it
  ///   had taken effect; the next handle that takes the lock then finishes it.
  func callAsFunction(_ changes: [Change]) throws(CacheError) -> [PlistFile]? {
    try folder.list(changes.filter { !$0.table.entries.isEmpty }.map(\.namespace))
    let files = try prepare(changes)
    switch changes.count {
    case 0: break
    case 1: try publish(changes[0])
    default: guard try publishWithJournal(changes) else { return nil }
    }
    return status(of: files)
  }

  /// Writes the temporary files of all changes, or none.
  private func prepare(_ changes: [Change]) throws(CacheError) -> [PlistFile] {
    do throws(CacheError) {
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
  ) throws(CacheError) -> PlistFile {
    let path = folder.path(of: namespace)
    guard !table.entries.isEmpty else { return PlistFile(path: path, table: table) }
    let (bytes, temporary) = (PlistEncoder.encode(table, namespace: namespace), PlistFolder.temporaryPath(path))
    try folder.remove(temporary)
    let file = try folder.write(bytes, to: temporary, synchronized: synchronized)
    return PlistFile(path: path, table: table, file: file)
  }

  /// Removes any temporary files. A later writer removes the ones that cannot be removed now.
  private func removeTemporaryFiles(of changes: [Change]) {
    for change in changes { try? folder.remove(PlistFolder.temporaryPath(folder.path(of: change.namespace))) }
  }

  private func publish(_ change: Change) throws(CacheError) {
    do throws(CacheError) {
      try rename(change.table, change.namespace)
    } catch {
      removeTemporaryFiles(of: [change])
      throw error
    }
    guard durability == .full else { return }
    do throws(CacheError) {
      try folder.synchronize()
    } catch {
      // The new file has its name, but may not keep it. Only restoring the old content makes "nothing was changed"
      // true.
      try? putBack(change)
      throw error
    }
  }

  /// Replaces the published file with the previous content, if all of that can be written: a partial file would be
  /// worse than either.
  private func putBack(_ change: Change) throws(CacheError) {
    let before = try prepare(before: change)
    // Even if the disk can no longer sync, the file may last until the power fails.
    if let file = before.file { try? folder.fileSystem.synchronize(file) }
    try rename(change.before, change.namespace)
  }

  private func prepare(before change: Change) throws(CacheError) -> PlistFile {
    do throws(CacheError) {
      return try prepare(change.before, change.namespace, false)
    } catch {
      removeTemporaryFiles(of: [change])
      throw error
    }
  }

  private func rename(_ table: EntryTable, _ namespace: String) throws(CacheError) {
    let path = folder.path(of: namespace)
    if table.entries.isEmpty {
      try folder.remove(path)
    } else {
      try folder.rename(PlistFolder.temporaryPath(path), to: path)
    }
  }

  /// Whether all files have their names; if not, the journal is in place and ensures that they get them.
  private func publishWithJournal(_ changes: [Change]) throws(CacheError) -> Bool {
    do throws(CacheError) {
      try writeJournal(changes)
    } catch {
      try? folder.remove(PlistFolder.temporaryPath(folder.journalPath))
      // If the journal cannot be removed, it still needs its files.
      if (try? folder.remove(folder.journalPath)) != nil { removeTemporaryFiles(of: changes) }
      throw error
    }
    return (try? folder.finishJournal(synchronized: durability != .relaxed)) != nil
  }

  private func writeJournal(_ changes: [Change]) throws(CacheError) {
    let journal = PlistJournal(
      replaced: changes.filter { !$0.table.entries.isEmpty }.map(\.namespace),
      removed: changes.filter { $0.table.entries.isEmpty }.map(\.namespace))
    let temporary = PlistFolder.temporaryPath(folder.journalPath)
    try folder.remove(temporary)
    _ = try folder.write(Array(journal.text.utf8), to: temporary, synchronized: durability != .relaxed)
    try folder.rename(temporary, to: folder.journalPath)
    if durability != .relaxed { try folder.synchronize() }
  }

  /// The files with their new status, which renaming has changed; `nil` if it is unavailable, so that they are read
  /// again.
  private func status(of files: [PlistFile]) -> [PlistFile]? {
    try? files.map { file in
      guard let handle = file.file else { return file }
      return PlistFile(
        path: file.path, table: file.table, file: handle, status: try folder.fileSystem.status(of: handle))
    }
  }
}

/// The intent of a commit over several namespaces, written down before it is carried out.
///
/// The commit takes effect when the journal gets its name. The next handle that takes the lock finishes what the
/// journal says; that is idempotent.
struct PlistJournal {
  private static let header = "cachectl plist batch 1"
  private static let headerOfAnyVersion = "cachectl plist batch "
  private static let footer = "end"

  /// The namespaces whose files the temporary ones replace.
  var replaced: [String] = []
  /// The namespaces whose files are removed.
  var removed: [String] = []

  /// The journal as text, one namespace per line.
  var text: String {
    let lines = [Self.header] + replaced.map { "replace \($0)" } + removed.map { "remove \($0)" } + [Self.footer]
    return lines.joined(separator: "\n") + "\n"
  }

  /// Whether `bytes` begin as a journal of any version does.
  static func isHead(_ bytes: [UInt8]) -> Bool { bytes.starts(with: headerOfAnyVersion.utf8) }

  init(replaced: [String], removed: [String]) {
    self.replaced = replaced
    self.removed = removed
  }

  /// Parses the journal in `bytes`.
  init(_ bytes: [UInt8]) throws(PlistFormatError) {
    let damage = PlistFormatError(message: "it is not a complete journal of a batch")
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.count >= 3, lines.suffix(2) == [Self.footer[...], ""] else { throw damage }
    guard lines[0] == Self.header else {
      guard lines[0].hasPrefix(Self.headerOfAnyVersion) else { throw damage }
      throw PlistFormatError(kind: .newerFormat, message: "it is a '\(lines[0])'")
    }
    for line in lines[1..<(lines.count - 2)] {
      let words = line.split(separator: " ", omittingEmptySubsequences: false)
      guard words.count == 2, CacheKey.isNamespace(words[1]) else { throw damage }
      switch words[0] {
      case "replace": replaced.append(String(words[1]))
      case "remove": removed.append(String(words[1]))
      default: throw damage
      }
    }
  }
}

extension PlistFolder {
  /// The journal of an unfinished commit; `nil` if there is none.
  ///
  /// - Throws: `CacheError`: `damaged` if it is not complete, `unsupportedFormat` if a newer version wrote it.
  func journal() throws(CacheError) -> PlistJournal? {
    guard let content = try read(journalPath) else { return nil }
    do throws(PlistFormatError) {
      return try PlistJournal(content.bytes)
    } catch {
      throw CacheError(error, path: journalPath)
    }
  }

  /// Whether there is a commit to finish. With a damaged journal there is none that can be.
  func hasUnfinishedBatch() throws(CacheError) -> Bool {
    guard try status(of: journalPath) != nil else { return false }
    do throws(CacheError) {
      return try journal() != nil
    } catch {
      guard error.code == .damaged else { throw error }
      return false
    }
  }

  /// Finishes the commit that the folder's journal describes, and removes the journal.
  func finishJournal(synchronized: Bool) throws(CacheError) {
    guard let journal = try journal() else { return }
    try finish(journal)
    if synchronized { try synchronize() }
    try remove(journalPath)
    if synchronized { try synchronize() }
  }

  private func finish(_ journal: PlistJournal) throws(CacheError) {
    for namespace in journal.removed { try remove(path(of: namespace)) }
    for namespace in journal.replaced {
      let path = path(of: namespace)
      // If the temporary file is gone, it already has its final name.
      guard try status(of: Self.temporaryPath(path)) != nil else { continue }
      try rename(Self.temporaryPath(path), to: path)
    }
  }

  /// Removes the leftovers of an interrupted commit. Call this only under the exclusive lock, after finishing the
  /// journal.
  func removeTemporaryFiles() throws(CacheError) {
    for name in try parts() where name.hasSuffix(Self.temporaryPath("")) { try remove(path + "/" + name) }
  }
}
