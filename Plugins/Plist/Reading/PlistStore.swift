internal import EngineSupport
internal import StorageSPI
internal import Synchronization

/// A store's files, and those of them that are in memory. Every method except `current` waits for the disk and the
/// lock.
final class PlistStore: Sendable {
  private struct State {
    var files: [String: PlistFile] = [:]
    /// The errors of unreadable files, with their status at the time: a scan past damage asks many times.
    var failures: [String: (status: FileStatus, error: CacheError)] = [:]
    var isTidy = false
  }

  let folder: PlistFolder
  private let lock: PlistLock
  private let wait: PlistWait
  private let durability: Durability
  private let state = Mutex(State())

  init(_ options: PlistOptions, fileSystem: any FileSystem, timer: any PlistTimer) {
    folder = PlistFolder(path: options.path, fileSystem: fileSystem)
    wait = PlistWait(timeout: options.busyTimeout, timer: timer)
    lock = PlistLock(folder: folder, wait: wait)
    durability = options.durability
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
    if let failure = state.withLock({ $0.failures[namespace] }),
      try folder.status(of: folder.path(of: namespace)) == failure.status
    {
      throw failure.error
    }
    let file = try read(namespace)
    state.withLock { ($0.files[namespace], $0.failures[namespace]) = (file, nil) }
    return file
  }

  /// The same; `nil` if the content is unreadable.
  func loadIfReadable(_ namespace: String) throws(CacheError) -> PlistFile? {
    do throws(CacheError) {
      return try load(namespace)
    } catch {
      if error.isOfContent { return nil }
      throw error
    }
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
      let error = CacheError(error, path: path)
      state.withLock { $0.failures[namespace] = (status, error) }
      throw error
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

  /// Runs `body` while no other handle writes, after finishing what an earlier handle began.
  func reading<Output>(_ body: () throws(CacheError) -> Output) throws(CacheError) -> Output {
    let output: Output? = try readingAsItIs { () throws(CacheError) in
      try folder.status(of: folder.journalPath) == nil ? try body() : nil
    }
    return if let output { output } else { try writing(body) }
  }

  /// Runs `body` while no other handle writes, without finishing anything first.
  func readingAsItIs<Output>(_ body: () throws(CacheError) -> Output) throws(CacheError) -> Output {
    do {
      return try lock.hold(exclusively: false, body)
    } catch  where error.code == .permissionDenied {
      return try readingWithoutLock(body)
    }
  }

  /// Runs `body` again until nothing changed meanwhile, for users who may not even open the lock file.
  private func readingWithoutLock<Output>(
    _ body: () throws(CacheError) -> Output
  ) throws(CacheError) -> Output {
    let output: Output? = try wait.poll { () throws(CacheError) in
      let before = try signature()
      let output = try body()
      return try signature() == before ? output : nil
    }
    guard let output else { throw .busy("read", folder.path, after: wait.timeout) }
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
      try folder.finishJournal(synchronized: durability != .relaxed)
      if !state.withLock({ $0.isTidy }) { try folder.removeTemporaryFiles() }
      state.withLock { $0.isTidy = true }
      return try body()
    }
  }

  /// Makes all changes, or none. Call this only inside `writing`.
  func commit(_ changes: [PlistCommit.Change]) throws(CacheError) {
    let files = try PlistCommit(folder: folder, durability: durability)(changes)
    state.withLock { state in
      for (index, change) in changes.enumerated() { state.files[change.namespace] = files?[index] }
    }
  }

  /// Drops everything in memory, and closes the files.
  func release() {
    let files = state.withLock { state in
      defer { (state.files, state.failures) = ([:], [:]) }
      return state.files
    }
    _ = files  // Released here, outside the lock.
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
