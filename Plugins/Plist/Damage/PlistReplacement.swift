internal import EngineSupport
internal import StorageSPI

/// Replaces damaged files with repaired ones, and keeps the damaged ones under another name.
struct PlistReplacement {
  /// A damaged file, and the entries for its replacement.
  struct File {
    let namespace: String
    let table: EntryTable
    let path: String
  }

  let folder: PlistFolder
  /// The suffix for the names of the damaged files.
  let suffix: String

  /// Replaces all `files`, or throws and replaces none.
  ///
  /// - Returns: the new paths of the damaged files, in the order of `files`.
  func callAsFunction(_ files: [File]) throws(CacheError) -> [String] {
    guard !files.isEmpty else { return [] }
    var (names, replaced): ([String], Int) = ([], 0)
    do throws(CacheError) {
      for file in files { try write(file) }
      for file in files { names.append(try name(file)) }
      // Make the second names durable before the damaged files lose their first ones.
      try folder.synchronize()
      for file in files {
        try exchange(file)
        replaced += 1
      }
      try folder.synchronize()
      return names
    } catch {
      undo(files, names, replaced)
      throw error
    }
  }

  private func write(_ file: File) throws(CacheError) {
    guard !file.table.entries.isEmpty else { return }
    let bytes = PlistEncoder.encode(file.table, namespace: file.namespace)
    _ = try folder.write(bytes, to: PlistFolder.temporaryPath(file.path), synchronized: true)
  }

  /// Gives the damaged file its second name.
  private func name(_ file: File) throws(CacheError) -> String {
    let name = try folder.freePath(file.path + suffix)
    try folder.link(file.path, to: name)
    return name
  }

  private func exchange(_ file: File) throws(CacheError) {
    if file.table.entries.isEmpty {
      try folder.remove(file.path)
    } else {
      try folder.rename(PlistFolder.temporaryPath(file.path), to: file.path)
    }
  }

  /// Restores the store as far as possible; a later writer removes the files that cannot be removed now.
  private func undo(_ files: [File], _ names: [String], _ replaced: Int) {
    for (index, file) in files.enumerated() {
      try? folder.remove(PlistFolder.temporaryPath(file.path))
      guard index < names.count else { continue }
      if index < replaced { try? folder.rename(names[index], to: file.path) } else { try? folder.remove(names[index]) }
    }
  }
}
