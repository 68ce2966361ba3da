internal import StorageSPI

/// Clears away what stands in the place of a store's files and is none of them: folders and the like, a damaged journal,
/// and what interrupted commits have left. All but the last is moved aside, not removed.
struct PlistClearance {
  let folder: PlistFolder
  /// What is appended to the names of what is moved.
  let suffix: String
  /// Where that is now, and what was wrong with it.
  private(set) var moved: [String] = []
  private(set) var issues: [IntegrityIssue] = []
  /// Whether temporary files may hold what a commit wrote, of which no journal tells any more.
  private var keepsTemporaryFiles = false

  init(folder: PlistFolder, suffix: String) {
    (self.folder, self.suffix) = (folder, suffix)
  }

  /// Moves what is at `path` aside, unless it is a file or nothing.
  mutating func moveUnlessFile(_ path: String) throws(StorageError) {
    guard let status = try folder.status(of: path), status.kind != .regular else { return }
    try move(path, Self.noFile)
  }

  /// Finishes the commit that a journal tells of, or moves the journal aside where it is damaged.
  ///
  /// - Throws: `StorageError` with the code `unsupportedFormat` where a newer version wrote it.
  mutating func settleJournal() throws(StorageError) {
    let path = folder.journalPath
    try moveUnlessFile(path)
    guard let content = try folder.read(path) else { return }
    if let journal = try PlistJournal(content.bytes, path: path) {
      for namespace in journal.replaced + journal.removed { try clear(folder.path(of: namespace)) }
      try folder.finishJournal(synchronized: true)
    } else {
      keepsTemporaryFiles = true
      try move(path, Self.noJournal)
    }
  }

  private mutating func clear(_ path: String) throws(StorageError) {
    try moveUnlessFile(path)
    try moveUnlessFile(PlistFolder.temporaryPath(path))
  }

  /// Removes the files that interrupted commits left; moves aside what is no file.
  mutating func settleTemporaryFiles() throws(StorageError) {
    for path in try folder.temporaryFiles() {
      try moveUnlessFile(path)
      if keepsTemporaryFiles, try folder.status(of: path) != nil { try move(path, "it is of a batch without journal") }
    }
    try folder.removeTemporaryFiles()
  }

  private mutating func move(_ path: String, _ what: String) throws(StorageError) {
    let newPath = try folder.freePath(path + suffix)
    try folder.rename(path, to: newPath)
    moved.append(newPath)
    issues.append(Self.issue(path, what))
  }

  static let (noFile, noJournal) = ("it is no file", "it is no whole journal")

  static func issue(_ path: String, _ what: String) -> IntegrityIssue {
    IntegrityIssue(kind: .structure, message: "\(path): \(what)")
  }
}

extension PlistFolder {
  /// `path`, or with a number after it where there is something of that name.
  func freePath(_ path: String) throws(StorageError) -> String {
    var (free, number) = (path, 1)
    while try status(of: free) != nil {
      number += 1
      free = "\(path)-\(number)"
    }
    return free
  }
}
