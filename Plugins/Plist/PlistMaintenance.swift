internal import StorageSPI

extension PlistFolder {
  /// The sum of the sizes of the store's files, in bytes.
  func size() throws(StorageError) -> Int {
    var size = 0
    for name in try names() where isPart(name) { size += try status(of: path + "/" + name)?.size ?? 0 }
    return size
  }

  private func isPart(_ name: String) -> Bool {
    let stem = name.hasSuffix(Self.temporaryPath("")) ? name.dropLast(Self.temporaryPath("").count) : name[...]
    return stem == Self.lockName || stem == Self.journalName || Self.namespace(ofFile: stem) != nil
  }
}

extension PlistStore {
  /// What is wrong with the files, which are all read anew, and left as they are.
  func check() throws(StorageError) -> [IntegrityIssue] {
    try readingAsItIs { () throws(StorageError) in
      var issues: [IntegrityIssue] = []
      if try folder.status(of: folder.journalPath) != nil {
        issues.append(
          IntegrityIssue(
            kind: .structure, message: "\(folder.journalPath) is left of an unfinished batch: the next call finishes it"
          ))
      }
      for namespace in try folder.namespaces() { issues += try check(namespace) }
      return issues
    }
  }

  private func check(_ namespace: String) throws(StorageError) -> [IntegrityIssue] {
    do {
      _ = try read(namespace)
      return []
    } catch  where error.code == .damaged || error.code == .unsupportedFormat {
      let key = (error.cause as? PlistFormatError)?.key
      return [IntegrityIssue(key: key, kind: key == nil ? .structure : .undecodable, message: error.message)]
    }
  }

  /// Removes the entries that are expired at `time`, file by file, so that a damaged one does not keep the others.
  ///
  /// - Throws: the first error, after all files were tried.
  func removeExpired(at time: Timestamp) throws(StorageError) {
    var failure: StorageError?
    for namespace in try folder.namespaces() {
      do {
        try removeExpired(at: time, from: namespace)
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
  }

  private func removeExpired(at time: Timestamp, from namespace: String) throws(StorageError) {
    let before = try load(namespace).table
    var table = before
    guard table.removeExpired(at: time) else { return }
    try commit([PlistCommit.Change(namespace: namespace, table: table, before: before)])
  }
}
