internal import EngineSupport
internal import Platform
internal import StorageSPI

/// Tells stores from what belongs to someone else, without changing anything.
enum LMDBOwnership {
  /// Whether there is a store in the folder `path`, damaged or not.
  ///
  /// - Throws: `CacheError`: `cannotCreate` if what is there belongs to someone else, `permissionDenied`, `ioFailed`.
  @discardableResult
  static func requireOwn(_ path: String) throws(CacheError) -> Bool {
    try StoreMark.isStore(inFolder: path) { names throws(CacheError) in
      // The file of locks stays where a store was removed.
      if names == ["lock.mdb"] { return isLockFile("\(path)/lock.mdb") ? .nothing : .others }
      guard names.contains("data.mdb") else { return .others }
      do throws(CacheError) {
        guard let file = try LMDBDataFile(readingIfPresentIn: path) else { return .nothing }
        return file.isOwn || file.hasTrace ? .store : .others
      } catch {
        // Something that is not a file has the name of the data file.
        guard error.code == .damaged else { throw error }
        return .others
      }
    }
  }
}

extension LMDBOwnership {
  /// Whether the file is empty, or begins as LMDB's files of locks do.
  private static func isLockFile(_ path: String) -> Bool {
    let file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return false }
    defer { close(file) }
    var magic: UInt32 = 0
    let count = pread(file, &magic, 4, 0)
    return count == 0 || count == 4 && magic == 0xBEEF_C0DE
  }
}

extension LMDBDataFile {
  /// Whether the file is a store: it has a format record or, in version 1, an entry. An environment without any record
  /// counts as an empty store.
  fileprivate var isOwn: Bool {
    let states = states
    guard let latest = states.first else { return false }
    return latest.main.root == LMDBTreeRecord.noRoot || states.contains { hasRecord($0) || hasEntry($0) }
  }

  /// Whether a format record is anywhere in the file: damage, or another process that writes meanwhile, may hide what leads
  /// to it. Cost: looking at every page.
  fileprivate var hasTrace: Bool {
    coverHoles()
    let states = LMDBStates(self)
    return states.laterFormat != nil || states.all.contains { $0.summary != nil }
  }

  private func hasRecord(_ state: LMDBMetaPage) -> Bool {
    do throws(LMDBFault) {
      return try summary(in: state) != nil
    } catch {
      if case .laterVersion = error { return true }
      return false
    }
  }

  /// Whether a namespace of the state begins with an entry of this engine.
  private func hasEntry(_ state: LMDBMetaPage) -> Bool {
    var isFound = false
    forEachNode(below: state.main.root, state.pageSize) { node in
      guard !isFound, let tree = namespaceTree(node),
        let first = try? firstNode(below: tree.root, state.pageSize), let value = value(of: first, state.pageSize)
      else { return }
      isFound = (try? LMDBEntry(value).metadata()) != nil
    }
    return isFound
  }
}
