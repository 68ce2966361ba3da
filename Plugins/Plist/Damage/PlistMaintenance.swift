internal import EngineSupport
internal import StorageSPI

extension PlistFolder {
  /// The total size of the store's files, in bytes.
  func size() throws(CacheError) -> Int {
    var size = 0
    for name in try parts() { size += try status(of: path + "/" + name)?.size ?? 0 }
    return size
  }
}

extension PlistStore {
  /// Checks the files, which it reads anew and leaves unchanged. An interrupted batch is not damage: it is finished
  /// first.
  func check() throws(CacheError) -> [IntegrityIssue] {
    if try checkJournal() == nil { try finishBatch() }
    return try readingAsItIs { () throws(CacheError) in
      var issues: [IntegrityIssue] = []
      if let issue = try checkJournal() { issues.append(issue) }
      for path in try folder.temporaryFiles() where try folder.status(of: path)?.kind == .folder {
        issues.append(
          IntegrityIssue(kind: .structure, message: "\(path) is a folder, and keeps the store from writing"))
      }
      for namespace in try folder.namespaces() { issues += try check(namespace) }
      return issues
    }
  }

  /// Finishes the batch in the journal, if there is one and it can be finished.
  private func finishBatch() throws(CacheError) {
    guard try folder.status(of: folder.journalPath) != nil else { return }
    do { try writing {} } catch  where error.code == .permissionDenied {
      // A handle that may write will finish it. The existing files are sound.
    }
  }

  /// The issue with the journal; `nil` if there is no journal, or it is complete.
  private func checkJournal() throws(CacheError) -> IntegrityIssue? {
    let path = folder.journalPath
    do throws(CacheError) {
      guard let content = try folder.read(path), try PlistJournal(content.bytes, path: path) == nil else { return nil }
      return IntegrityIssue(
        kind: .structure, message: "\(path) is no whole journal of a batch: the next call removes it")
    } catch  where error.isOfContent {
      return IntegrityIssue(kind: .structure, message: error.message)
    }
  }

  private func check(_ namespace: String) throws(CacheError) -> [IntegrityIssue] {
    do {
      _ = try read(namespace)
      return []
    } catch  where error.isOfContent {
      let key = (error.cause as? PlistFormatError)?.key
      return [IntegrityIssue(key: key, kind: key == nil ? .structure : .undecodable, message: error.message)]
    }
  }

  /// Removes the entries that are expired at `time`, file by file, so that a damaged file does not protect the entries
  /// of the others.
  ///
  /// - Throws: the first error, after trying all files.
  func removeExpired(at time: Timestamp) throws(CacheError) {
    var failure: CacheError?
    for namespace in try folder.namespaces() {
      do {
        try removeExpired(at: time, from: namespace)
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
  }

  private func removeExpired(at time: Timestamp, from namespace: String) throws(CacheError) {
    let before = try load(namespace).table
    var table = before
    guard table.removeExpired(at: time) else { return }
    try commit([PlistCommit.Change(namespace: namespace, table: table, before: before)])
  }
}
