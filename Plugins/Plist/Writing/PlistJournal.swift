internal import StorageSPI

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
    (self.replaced, self.removed) = (replaced, removed)
  }

  /// Parses the journal in `bytes`; `nil` if they are not a complete journal.
  ///
  /// - Throws: `CacheError` with the code `unsupportedFormat` if a newer version wrote it.
  init?(_ bytes: [UInt8], path: String) throws(CacheError) {
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.count >= 3, lines.suffix(2) == [Self.footer[...], ""] else { return nil }
    guard lines[0] == Self.header else {
      guard lines[0].hasPrefix(Self.headerOfAnyVersion) else { return nil }
      throw CacheError(PlistFormatError(kind: .newerFormat, message: "it is a '\(lines[0])'"), path: path)
    }
    for line in lines[1..<(lines.count - 2)] {
      let words = line.split(separator: " ", omittingEmptySubsequences: false)
      guard words.count == 2, CacheKey.isNamespace(words[1]) else { return nil }
      switch words[0] {
      case "replace": replaced.append(String(words[1]))
      case "remove": removed.append(String(words[1]))
      default: return nil
      }
    }
  }
}

extension PlistFolder {
  /// Finishes the commit that the folder's journal describes, and removes the journal.
  ///
  /// An incomplete journal belongs to a commit that never took effect: it is only removed.
  func finishJournal(synchronized: Bool) throws(CacheError) {
    guard let content = try read(journalPath) else { return }
    if let journal = try PlistJournal(content.bytes, path: journalPath) {
      try finish(journal)
      if synchronized { try synchronize() }
    }
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
    for path in try temporaryFiles() { try remove(path) }
  }

  /// The paths of the temporary files.
  func temporaryFiles() throws(CacheError) -> [String] {
    try parts().filter { $0.hasSuffix(Self.temporaryPath("")) }.map { path + "/" + $0 }
  }
}
