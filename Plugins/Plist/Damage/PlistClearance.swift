internal import StorageSPI

/// Clears away everything that is in the way of a store's files: folders and the like, a damaged journal, and leftovers
/// of interrupted commits. Only the leftovers are removed; everything else is moved aside.
struct PlistClearance {
  let folder: PlistFolder
  /// The suffix for the names of moved items.
  let suffix: String
  /// The new paths of the moved items, and what was wrong with them.
  private(set) var moved: [String] = []
  private(set) var issues: [IntegrityIssue] = []
  /// Whether to keep temporary files, which may hold the data of a commit whose journal is damaged.
  private var keepsTemporaryFiles = false

  init(folder: PlistFolder, suffix: String) {
    (self.folder, self.suffix) = (folder, suffix)
  }

  /// Moves the item at `path` aside, unless it is a file or does not exist.
  mutating func moveUnlessFile(_ path: String) throws(CacheError) {
    guard let status = try folder.status(of: path), status.kind != .regular else { return }
    try move(path, Self.noFile)
  }

  /// Finishes the commit in the journal, or moves the journal aside if it is damaged.
  ///
  /// - Throws: `CacheError` with the code `unsupportedFormat` if a newer version wrote it.
  mutating func settleJournal() throws(CacheError) {
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

  private mutating func clear(_ path: String) throws(CacheError) {
    try moveUnlessFile(path)
    try moveUnlessFile(PlistFolder.temporaryPath(path))
  }

  /// Removes the files that interrupted commits left; moves aside items that are not files.
  mutating func settleTemporaryFiles() throws(CacheError) {
    for path in try folder.temporaryFiles() {
      try moveUnlessFile(path)
      if keepsTemporaryFiles, try folder.status(of: path) != nil { try move(path, "it is of a batch without journal") }
    }
    try folder.removeTemporaryFiles()
  }

  private mutating func move(_ path: String, _ what: String) throws(CacheError) {
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
  /// `path`, with a number appended if that name is taken.
  func freePath(_ path: String) throws(CacheError) -> String {
    var (free, number) = (path, 1)
    while try status(of: free) != nil {
      number += 1
      free = "\(path)-\(number)"
    }
    return free
  }
}
