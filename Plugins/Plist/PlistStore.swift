internal import EngineSupport
internal import StorageSPI
internal import Synchronization

/// A store's files, and those of them that are in memory. Every method except `current` waits for the disk and the
/// lock.
final class PlistStore: Sendable {
  private struct State {
    var files: [String: PlistFile] = [:]
    var isTidy = false
  }

  let folder: PlistFolder
  private let lock: PlistLock
  private let options: PlistOptions
  private let state = Mutex(State())

  init(_ options: PlistOptions, fileSystem: any FileSystem) {
    self.options = options
    folder = PlistFolder(path: options.path, fileSystem: fileSystem)
    lock = PlistLock(folder, timeout: options.busyTimeout)
  }

  /// The file of `namespace`, if it is in memory and unchanged. Cost: one `stat`.
  func current(_ namespace: String) -> PlistFile? {
    guard let file = state.withLock({ $0.files[namespace] }) else { return nil }
    do {
      return try folder.fileSystem.status(of: file.path) == file.status ? file : nil
    } catch {
      // The caller then reads the file, and gets the same error.
      return nil
    }
  }

  /// The current file of `namespace`. Call this only inside `reading` or `writing`.
  func load(_ namespace: String) throws(CacheError) -> PlistFile {
    if let file = current(namespace) { return file }
    let file = try read(namespace)
    state.withLock { $0.files[namespace] = file }
    return file
  }

  /// Reads the file of `namespace` again.
  func read(_ namespace: String) throws(CacheError) -> PlistFile {
    let path = folder.path(of: namespace)
    guard try folder.owns(namespace), let (file, status, bytes) = try folder.read(path) else {
      return PlistFile(path: path, table: EntryTable())
    }
    do throws(PlistFormatError) {
      let table = try PlistDecoder.decode(bytes, namespace: namespace)
      return PlistFile(path: path, table: table, file: file, status: status)
    } catch {
      throw CacheError(error, path: path)
    }
  }

  /// The first entries of `range` in `file`, the file of `namespace`, or in the newer file that has replaced it in
  /// memory.
  func scan(_ namespace: String, _ file: PlistFile, _ range: KeyRange, limit: Int) -> [EntrySummary] {
    // In place, which keeps the sorted keys for the next scan.
    if let summaries = state.withLock({ $0.files[namespace]?.table.scan(range, limit: limit) }) { return summaries }
    var table = file.table
    return table.scan(range, limit: limit)
  }

  /// Runs `body` while no other handle writes, after finishing what an earlier handle began. A damaged journal says nothing
  /// of the files, each of which is complete: they stay readable.
  func reading<Output>(_ body: () throws(CacheError) -> Output) throws(CacheError) -> Output {
    func readingAsItIs() throws(CacheError) -> Output? { try folder.hasUnfinishedBatch() ? nil : try body() }
    let output: Output?
    do throws(CacheError) {
      output = try lock.hold(exclusively: false, readingAsItIs)
    } catch {
      guard error.code == .permissionDenied else { throw error }
      output = try readingWithoutLock(readingAsItIs)
    }
    return if let output { output } else { try writing(body) }
  }

  /// Runs `body` again until nothing changed meanwhile, for users who may not even open the lock file.
  private func readingWithoutLock<Output>(
    _ body: () throws(CacheError) -> Output
  ) throws(CacheError) -> Output {
    let output: Output? = try folder.fileSystem.poll(for: options.busyTimeout) { () throws(CacheError) in
      let before = try signature()
      let output = try body()
      return try signature() == before ? output : nil
    }
    guard let output else { throw .busy("read", folder.path, after: options.busyTimeout) }
    return output
  }

  private func signature() throws(CacheError) -> [String: FileStatus] {
    var signature: [String: FileStatus] = [:]
    for name in try folder.names() where name == PlistFolder.journalName || PlistFolder.namespace(ofFile: name) != nil {
      signature[name] = try folder.status(of: folder.path + "/" + name)
    }
    return signature
  }

  /// Runs `body` while no other handle reads or writes, after finishing what an earlier handle began.
  func writing<Output>(_ body: () throws(CacheError) -> Output) throws(CacheError) -> Output {
    try lock.hold(exclusively: true) { () throws(CacheError) in
      try folder.finishJournal(synchronized: options.durability != .relaxed)
      if !state.withLock({ $0.isTidy }) { try folder.removeTemporaryFiles() }
      state.withLock { $0.isTidy = true }
      return try body()
    }
  }

  /// Makes all changes, or none. Call this only inside `writing`.
  func commit(_ changes: [PlistCommit.Change]) throws(CacheError) {
    let files = try PlistCommit(folder: folder, durability: options.durability)(changes)
    state.withLock { state in
      for (index, change) in changes.enumerated() { state.files[change.namespace] = files?[index] }
    }
  }

  /// Drops everything in memory, and closes the files.
  func release() {
    let files = state.withLock { state in
      defer { state.files = [:] }
      return state.files
    }
    _ = files  // Released here, outside the lock.
  }
}

extension PlistStore {
  /// Checks the files, which it reads again and leaves unchanged. An interrupted batch is not damage: it is finished first.
  ///
  /// - Throws: `CacheError`: `unsupportedFormat` if a later version has written one of them: it is not damaged.
  func check() throws(CacheError) -> [IntegrityIssue] {
    try reading { () throws(CacheError) in
      var issues: [IntegrityIssue] = []
      func check(_ body: () throws(CacheError) -> Void) throws(CacheError) {
        do throws(CacheError) {
          try body()
        } catch {
          guard error.code == .damaged else { throw error }
          let key = (error.cause as? PlistFormatError)?.key
          issues.append(
            IntegrityIssue(key: key, kind: key == nil ? .structure : .undecodable, message: error.message))
        }
      }
      try check { () throws(CacheError) in _ = try folder.journal() }
      for namespace in try folder.namespaces() { try check { () throws(CacheError) in _ = try read(namespace) } }
      return issues
    }
  }

  /// Removes the entries that are expired at `time`, file by file, so that a damaged file does not protect the entries
  /// of the others.
  ///
  /// - Throws: the first error, after trying all files.
  func removeExpired(at time: Timestamp) throws(CacheError) {
    var failure: CacheError?
    for namespace in try folder.namespaces() {
      do throws(CacheError) {
        let before = try load(namespace).table
        var table = before
        guard table.removeExpired(at: time) else { continue }
        try commit([PlistCommit.Change(namespace: namespace, table: table, before: before)])
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
  }
}

/// The entries of a namespace, with the file that they were read from or written to.
///
/// The file stays open. Meanwhile no other file can have its inode, so a status equal to `status` means that nothing
/// has changed.
struct PlistFile: Sendable {
  let path: String
  var table: EntryTable
  /// The open file; `nil` if there was none.
  var file: OpenFile?
  /// Its status; `nil` if there was none.
  var status: FileStatus?
}
