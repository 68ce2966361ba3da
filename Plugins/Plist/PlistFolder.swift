internal import EngineAPI
internal import CacheBase

/// The folder of a store: what its files are called, which of them are the store's own, and its lock.
///
///     cities.json         the entries of the namespace "cities"
///     cities.json.new     its next content, during a commit
///     store.commit        an empty file: the commit of several namespaces has taken effect, see `recover()`
///     store.lock          locked by readers and writers; lists the namespaces whose files are the engine's own
///     store.uses          the mark of the store
///
/// A folder is a store if it has a mark: the one next to the files, or in one of them. In a store, a file with the name
/// of a namespace belongs to the store if the lock file lists the namespace, or if the file begins with its format and
/// a namespace. Any other file is neither read, renamed nor removed.
struct PlistFolder: Sendable {
  let options: PlistOptions
  let system: StoreFiles
  private let patience: LockPatience

  init(_ options: PlistOptions, _ system: StoreFiles) {
    self.options = options
    self.system = system
    patience = LockPatience(options.busyTimeout, now: system.now)
  }

  var path: String { options.path }
  var lockPath: String { path + "/store.lock" }
  var commitPath: String { path + "/store.commit" }
  /// Whether a loss of power must not damage the store.
  var isSynchronized: Bool { options.durability != .relaxed }

  func path(of namespace: String) -> String { "\(path)/\(namespace).json" }

  /// The namespace whose file, or next file, is called `name`; `nil` if that is not the name of one.
  private static func namespace(ofFile name: Substring) -> String? {
    let name = name.hasSuffix(".new") ? name.dropLast(4) : name
    guard name.hasSuffix(".json"), CacheKey.isNamespace(name.dropLast(5)) else { return nil }
    return String(name.dropLast(5))
  }

  /// Whether a commit over several namespaces is to be finished.
  func isInterrupted() throws(CacheError) -> Bool {
    try system.status(of: commitPath).map { $0.isRegular && $0.size == 0 } ?? false
  }

  /// Finishes the commit over several namespaces that was interrupted after it had taken effect, or removes what one left
  /// that was interrupted before. Call this only under the exclusive lock.
  ///
  /// The file `store.commit` decides. It is created when all the new files are complete, and removed when they have their
  /// names. So this can be interrupted, and repeated, too.
  func recover() throws(CacheError) {
    let isInterrupted = try isInterrupted()
    for file in try files() where file.hasSuffix(".new") {
      if isInterrupted { try system.rename(file, to: String(file.dropLast(4))) } else { try system.remove(file) }
    }
    guard isInterrupted else { return }
    try synchronize()
    try system.remove(commitPath)
    // Otherwise the file might come back after a loss of power, and with it half of the next commit.
    try synchronize()
  }

  /// Waits until the names of the files are on disk, unless commits need not survive a loss of power.
  func synchronize() throws(CacheError) {
    guard isSynchronized else { return }
    try system.synchronize(path)
  }
}

/// Tells the files of the store from those of someone else.
extension PlistFolder {
  /// The beginning of a line of the lock file that lists a namespace.
  private static let listing = "cachectl plist namespace "

  /// Whether there is a store in the folder, damaged or not.
  ///
  /// - Throws: `CacheError`: `cannotCreate` if the folder belongs to someone else, `permissionDenied`, `ioFailed`.
  func isStore() throws(CacheError) -> Bool {
    try StoreMark.isStore(inFolder: path) { names throws(CacheError) in
      guard try listedNamespaces().isEmpty, try files().isEmpty else { return .store }
      // The lock file stays when a store is removed.
      guard names == ["store.lock"], try system.status(of: lockPath)?.size == 0 else { return .others }
      return .nothing
    }
  }

  /// Creates the folder with its missing parents, and the mark in it, unless there is a store.
  func makeStore() throws(CacheError) {
    if try isStore() { return }
    do throws(CacheError) {
      try system.makeDirectory(path)
      try StoreMark(inFolder: path).create()
    } catch {
      throw error.preventing(storeAt: path)
    }
  }

  /// The namespaces that the lock file lists. The file of someone else lists none.
  func listedNamespaces() throws(CacheError) -> Set<String> {
    guard try system.status(of: lockPath)?.isRegular == true, let bytes = try system.read(lockPath)?.bytes else {
      return []
    }
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").filter { $0.hasPrefix(Self.listing) }
    return Set(lines.map { String($0.dropFirst(Self.listing.count)) })
  }

  /// The `namespaces` that the lock file does not list. The store can have files of them.
  ///
  /// - Throws: `CacheError` with the code `cannotCreate` if another file has the name of one of their files.
  func unlisted(_ namespaces: [String]) throws(CacheError) -> [String] {
    let listed = try listedNamespaces()
    let new = namespaces.filter { !listed.contains($0) }
    for file in new.flatMap({ [path(of: $0), path(of: $0) + ".new"] }) {
      guard try system.status(of: file) != nil, try version(of: file) == nil else { continue }
      throw .notAStore(file, "it has the name of a file that the store needs")
    }
    return new
  }

  /// Lists the `namespaces`, before the first byte of their files. Call this only under the exclusive lock.
  ///
  /// - Throws: `CacheError` with the code `cannotCreate` if another file has the name of one that is to be written.
  func list(_ namespaces: [String]) throws(CacheError) {
    let new = try unlisted(namespaces)
    guard !new.isEmpty else { return }
    // The first line feed ends a line that was not written to its end.
    let lines = new.map { "\n\(Self.listing)\($0)\n" }.joined()
    let flags = O_WRONLY | O_CREAT | O_APPEND
    _ = try system.write(Array(lines.utf8), to: lockPath, flags, synchronized: isSynchronized)
  }

  /// The store's files that hold entries, in order.
  func files() throws(CacheError) -> [String] {
    let listed = try listedNamespaces()
    var files: [String] = []
    for name in try system.names(in: path).sorted() {
      guard let namespace = Self.namespace(ofFile: name[...]) else { continue }
      let file = "\(path)/\(name)"
      let isOwn = try listed.contains(namespace) ? true : version(of: file) != nil
      if isOwn { files.append(file) }
    }
    return files
  }

  /// The namespaces that have a file of the store, in order.
  func namespaces() throws(CacheError) -> [String] {
    let files = try files().filter { !$0.hasSuffix(".new") }
    return files.compactMap { Self.namespace(ofFile: $0.dropFirst(path.count + 1)) }.sorted()
  }

  /// The latest version of the format in which one of the files is written; `nil` if none says its version. An empty
  /// store has the present one.
  func latestVersion() throws(CacheError) -> Int? {
    let files = try files()
    let versions = try files.map { file throws(CacheError) in try version(of: file) }
    return files.isEmpty ? PlistFormat.version : versions.compactMap(\.self).max()
  }

  private func version(of file: String) throws(CacheError) -> Int? {
    guard try system.status(of: file)?.isRegular == true else { return nil }
    return try system.read(file, atMost: PlistFormat.headSize).flatMap { PlistFormat.version(ofHead: $0.bytes) }
  }
}

/// The lock on a store, which excludes other handles in this process and in others.
///
/// It is `flock` on its own file. The kernel releases it when the process ends. Handles of one process exclude
/// each other, because each opens the file separately. The file is never removed.
extension PlistFolder {
  /// Runs `body` while holding the lock.
  ///
  /// - Throws: `CacheError` with the code `busy` if it cannot be had within the timeout.
  func withLock<Output>(
    exclusively: Bool, _ body: () throws(CacheError) -> Output
  ) throws(CacheError) -> Output {
    let file = try patience.wait { timeout throws(CacheError) in try lock(exclusively: exclusively, within: timeout) }
    defer { system.unlock(file) }
    return try body()
  }

  /// Takes the lock, after the turn to take it: `flock` on the folder, kept until the lock is held. So a handle that has
  /// just released the lock cannot take it again while another one waits for it.
  ///
  /// The turn protects nothing: a handle that cannot lock the folder, or has waited for its turn for half of the timeout,
  /// goes without. So a process that is suspended while it waits stops no other.
  func lock(exclusively: Bool, within timeout: Duration) throws(CacheError) -> OpenFile {
    let file = try openLockFile()
    let turn = try? system.open(path, O_RDONLY | O_DIRECTORY)
    defer { if let turn { system.unlock(turn) } }
    var hasTurn = turn == nil
    let hint = "try again, or raise option 'busyTimeout' of backend plist"
    return try system.wait(for: path, within: timeout, hint: hint) { waited throws(CacheError) in
      if !hasTurn, let turn { hasTurn = (try? system.lock(turn)) ?? true || waited > timeout / 2 }
      guard hasTurn, try system.lock(file, exclusively: exclusively) else { return nil }
      return file
    }
  }

  private func openLockFile() throws(CacheError) -> OpenFile {
    if let file = try system.open(lockPath, O_RDONLY | O_CREAT) { return file }
    // The folder was removed after the store was opened: start again with an empty store.
    try makeStore()
    guard let file = try system.open(lockPath, O_RDONLY | O_CREAT) else { throw .system(ENOENT, "create", lockPath) }
    return file
  }
}
