internal import EngineAPI
internal import CacheBase
internal import Synchronization

/// A store's files, and those of them that are in memory. Every method except `current` waits for the disk and the
/// lock.
final class PlistStore: Sendable {
  /// The entries of a namespace, with the file that they were read from or written to.
  ///
  /// The file stays open. Meanwhile no other file can have its inode, so a status equal to `status` means that nothing
  /// has changed.
  struct LoadedFile: Sendable {
    var table: EntryTable
    /// The open file; `nil` if there was none.
    var file: OpenFile?
    /// Its status; `nil` if there was none.
    var status: FileStatus?
  }

  /// The new content of a namespace.
  private struct Change {
    let namespace: String
    let before: EntryTable
    var after: EntryTable
    var isChanged = false
  }

  /// A batch that waits to be committed, and then the error that it failed with.
  final class Write: Sendable {
    fileprivate let batch: WriteBatch
    fileprivate let failure = Mutex<CacheError?>(nil)

    fileprivate init(_ batch: WriteBatch) { self.batch = batch }
  }

  let folder: PlistFolder
  private let files = Mutex<[String: LoadedFile]>([:])
  private let waiting = Mutex<[Write]>([])
  private let isReleased = Atomic(false)

  init(_ folder: PlistFolder) { self.folder = folder }

  /// The entries of `namespace`, if they are in memory and the file is unchanged. Cost: one `stat`.
  func current(_ namespace: String) throws(CacheError) -> LoadedFile? {
    guard let loaded = files.withLock({ $0[namespace] }) else { return nil }
    return try folder.system.status(of: folder.path(of: namespace)) == loaded.status ? loaded : nil
  }

  /// The current entries of `namespace`. Call this only inside `reading` or `writing`.
  func load(_ namespace: String) throws(CacheError) -> LoadedFile {
    if let loaded = try current(namespace) { return loaded }
    let loaded = try read(namespace)
    files.withLock { $0[namespace] = loaded }
    return loaded
  }

  /// Reads the file of `namespace` again.
  private func read(_ namespace: String) throws(CacheError) -> LoadedFile {
    let path = folder.path(of: namespace)
    guard try folder.namespaces().contains(namespace), let (file, status, bytes) = try folder.system.read(path) else {
      return LoadedFile(table: EntryTable())
    }
    let table = try PlistFormat.decode(bytes, namespace: namespace, path: path)
    return LoadedFile(table: table, file: file, status: status)
  }

  /// Runs `body` while no other handle writes, after finishing what an earlier handle began.
  func reading<Output>(_ body: () throws(CacheError) -> Output) throws(CacheError) -> Output {
    if isReleased.load(ordering: .acquiring) { throw .storeClosed }
    let output: Output? = try folder.withLock(exclusively: false) { () throws(CacheError) in
      try folder.isInterrupted() ? nil : try body()
    }
    return if let output { output } else { try writing(body) }
  }

  /// Runs `body` while no other handle reads or writes, after finishing what an earlier handle began.
  private func writing<Output>(_ body: () throws(CacheError) -> Output) throws(CacheError) -> Output {
    if isReleased.load(ordering: .acquiring) { throw .storeClosed }
    return try folder.withLock(exclusively: true) { () throws(CacheError) in
      try folder.recover()
      return try body()
    }
  }

  /// Drops everything in memory, and closes the files. Every later call fails: what it would do must not happen after the
  /// store is closed.
  func release() {
    isReleased.store(true, ordering: .releasing)
    files.withLock { $0 = [:] }
  }
}

/// Reading the whole store.
extension PlistStore {
  func scan(_ request: ScanRequest) throws(CacheError) -> ScanPage {
    try reading { () throws(CacheError) in
      try ScanPage(request) { page throws(CacheError) in
        let namespaces = try folder.namespaces().filter { request.visits($0) }
        for namespace in request.isDescending ? namespaces.reversed() : namespaces where !page.isComplete {
          var loaded = try load(namespace)
          loaded.table.scan(into: &page)
          // The next scan finds the keys sorted.
          files.withLock { [loaded] in $0[namespace] = loaded }
        }
      }
    }
  }

  func count() throws(CacheError) -> StoreCount {
    try reading { () throws(CacheError) in
      var count = StoreCount()
      for namespace in try folder.namespaces() {
        let loaded = try load(namespace)
        count.add(loaded.table.count.namespaces)
        count.storageBytes += loaded.status?.size ?? 0
      }
      return count
    }
  }

  /// Checks the files, which it reads again and leaves unchanged. An interrupted commit is not damage: it is finished first.
  ///
  /// - Throws: `CacheError`: `unsupportedFormat` if a later version has written one of them: it is not damaged.
  func check() throws(CacheError) -> [IntegrityIssue] {
    try reading { () throws(CacheError) in
      var issues: [IntegrityIssue] = []
      for namespace in try folder.namespaces() {
        do throws(CacheError) {
          _ = try read(namespace)
        } catch {
          guard error.code == .damaged else { throw error }
          issues.append(IntegrityIssue(kind: .structure, message: error.message))
        }
      }
      return issues
    }
  }
}

/// Changing the store.
extension PlistStore {
  /// Adds `batch` to the ones that wait. Then call `finish`.
  func enqueue(_ batch: WriteBatch) -> Write {
    let write = Write(batch)
    waiting.withLock { $0.append(write) }
    return write
  }

  /// Commits all batches that wait, unless an earlier call has committed `write` together with others.
  ///
  /// - Throws: the error that `write` failed with.
  func finish(_ write: Write) throws(CacheError) {
    let writes = waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
    if !writes.isEmpty { apply(writes) }
    if let failure = write.failure.withLock({ $0 }) { throw failure }
  }

  /// Applies the `writes` in order, each of them all or nothing, and then writes each file once.
  private func apply(_ writes: [Write]) {
    do throws(CacheError) {
      try writing { () throws(CacheError) in
        var changes: [String: Change] = [:]
        for write in writes {
          do throws(CacheError) {
            try apply(write.batch, to: &changes)
          } catch {
            write.failure.withLock { $0 = error }
          }
        }
        try commit(changes.values.filter(\.isChanged).sorted { $0.namespace < $1.namespace })
      }
    } catch {
      // Also the ones that failed before: the entry that one conflicts with might not have been written.
      for write in writes { write.failure.withLock { $0 = error } }
    }
  }

  /// Adds all changes of `batch` to `changes`, or throws and adds none.
  private func apply(_ batch: WriteBatch, to changes: inout [String: Change]) throws(CacheError) {
    var done: [(namespace: String, undo: EntryTable.Undo)] = []
    do throws(CacheError) {
      let parts = Dictionary(grouping: batch.operations) { $0.key.namespace }
      for (namespace, operations) in parts.sorted(by: { $0.key < $1.key }) {
        if changes[namespace] == nil {
          let before = try load(namespace).table
          changes[namespace] = Change(namespace: namespace, before: before, after: before)
        }
        // In place, because a copy for each batch would cost as much as the table.
        if let undo = try changes[namespace]?.after.apply(WriteBatch(operations)) { done.append((namespace, undo)) }
      }
      if let bounds = batch.bounds { try require(bounds, after: changes) }
      // Now, because the commit would fail with all batches. A namespace that had entries has a file of the store.
      let new = done.filter { !$0.undo.isEmpty && changes[$0.namespace]?.before.entries.isEmpty == true }
      if !new.isEmpty { _ = try folder.unlisted(new.map(\.namespace)) }
    } catch {
      for (namespace, undo) in done { changes[namespace]?.after.revert(undo) }
      throw error
    }
    for (namespace, undo) in done where !undo.isEmpty { changes[namespace]?.isChanged = true }
  }

  /// Removes the entries that are expired at `time`.
  func removeExpired(at time: Timestamp) throws(CacheError) {
    try writing { () throws(CacheError) in
      var changes: [Change] = []
      for namespace in try folder.namespaces() {
        var loaded = try load(namespace)
        let before = loaded.table
        if loaded.table.removeExpired(at: time) {
          changes.append(Change(namespace: namespace, before: before, after: loaded.table))
        } else {
          // The time of the next one to expire is known now.
          files.withLock { [loaded] in $0[namespace] = loaded }
        }
      }
      try commit(changes)
    }
  }

  /// Throws `CacheError` with the code `overBounds` if the store would exceed `bounds` after `changes`. Cost: a `stat` for
  /// each namespace, and loading the ones that are not in memory.
  ///
  /// A damaged file cannot be counted, so it fails the batch.
  private func require(_ bounds: StoreBounds, after changes: [String: Change]) throws(CacheError) {
    var count = StoreCount()
    for change in changes.values { count.add(change.after.count.namespaces) }
    let others = Set(try folder.namespaces()).subtracting(changes.keys)
    for namespace in others where namespace != bounds.exemptNamespace {
      count.add(try load(namespace).table.count.namespaces)
    }
    try bounds.require(count)
  }

  /// Makes all `changes`, or throws and makes none.
  private func commit(_ changes: [Change]) throws(CacheError) {
    guard !changes.isEmpty else { return }
    var written: [OpenFile?] = []
    do throws(CacheError) {
      try folder.list(changes.map(\.namespace))
      if changes.count == 1 {
        written = [try replace(changes[0].namespace, with: changes[0].after)]
        if folder.options.durability == .full { try folder.synchronize() }
      } else {
        written = try replaceTogether(changes)
      }
    } catch {
      // The new file has its name, but might not keep it: "nothing was changed" is true only with the content before.
      if !written.isEmpty { _ = try? replace(changes[0].namespace, with: changes[0].before) }
      // Its new files take room. If they stay, the next writer removes them.
      try? folder.recover()
      throw error
    }
    for (change, file) in zip(changes, written) {
      // Without a status the file is read again.
      let status = file.flatMap { try? folder.system.status(of: $0) }
      files.withLock { $0[change.namespace] = LoadedFile(table: change.after, file: file, status: status) }
    }
  }

  /// Replaces one file, by renaming a complete new one to its name.
  private func replace(_ namespace: String, with table: EntryTable) throws(CacheError) -> OpenFile? {
    let path = folder.path(of: namespace)
    guard !table.entries.isEmpty else {
      // On a full disk there is no room for a file without entries.
      try folder.system.remove(path)
      return nil
    }
    let file = try writeNew(namespace, table)
    try folder.system.rename(file.path, to: path)
    return file
  }

  /// Replaces several files. It takes effect when the file `store.commit` is created: see `PlistFolder.recover()`.
  private func replaceTogether(_ changes: [Change]) throws(CacheError) -> [OpenFile] {
    let written = try changes.map { change throws(CacheError) in try writeNew(change.namespace, change.after) }
    let flags = O_WRONLY | O_CREAT | O_EXCL
    _ = try folder.system.write([], to: folder.commitPath, flags, synchronized: false)
    do throws(CacheError) {
      try folder.synchronize()
    } catch {
      try? folder.system.remove(folder.commitPath)
      throw error
    }
    // The next handle finishes what fails from here on.
    try? folder.recover()
    return written
  }

  private func writeNew(_ namespace: String, _ table: EntryTable) throws(CacheError) -> OpenFile {
    try folder.system.write(
      PlistFormat.encode(table, namespace: namespace), to: folder.path(of: namespace) + ".new",
      O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, synchronized: folder.isSynchronized)
  }
}

extension ScanRequest {
  /// Whether the scan can visit a key of `namespace`.
  fileprivate func visits(_ namespace: String) -> Bool {
    // "0" follows "/", so every key of the namespace is below that.
    bounds.lower < namespace + "0" && bounds.upper > namespace + "/"
  }
}
