internal import Platform
internal import StorageSPI

/// The folder of a store: the names of its files, and the basic steps for reading and writing them.
///
///     cities.json         the entries of the namespace "cities"
///     cities.json.new     its next content, during a commit
///     batch.journal       the files that a commit over several namespaces replaces, while it does so
///     store.lock          locked by readers and writers; lists the namespaces whose files are the engine's own
///     store.uses          the mark of the store
///
/// The name of a namespace contains neither dots nor slashes, so the files' names cannot collide.
struct PlistFolder: Sendable {
  let path: String
  let fileSystem: any FileSystem

  static let lockName = "store.lock"
  static let journalName = "batch.journal"

  var lockPath: String { path + "/" + Self.lockName }
  var journalPath: String { path + "/" + Self.journalName }

  func path(of namespace: String) -> String { path + "/" + namespace + ".json" }

  static func temporaryPath(_ path: String) -> String { path + ".new" }

  /// The namespace whose file is called `name`; `nil` if it is not a namespace's file.
  static func namespace(ofFile name: some StringProtocol) -> String? {
    guard name.hasSuffix(".json"), CacheKey.isNamespace(name.dropLast(5)) else { return nil }
    return String(name.dropLast(5))
  }

  /// Runs a system call; its error says what failed, and for which file.
  func call<Output>(
    _ action: String, _ path: String, _ body: () throws(SystemError) -> Output
  ) throws(CacheError) -> Output {
    do { return try body() } catch { throw CacheError(error, action: action, path: path) }
  }

  /// Creates the folder and its missing parents.
  func make() throws(CacheError) {
    var end = path.startIndex
    while end < path.endIndex {
      end = path[end...].dropFirst().firstIndex(of: "/") ?? path.endIndex
      try makeFolder(String(path[..<end]))
    }
  }

  private func makeFolder(_ path: String) throws(CacheError) {
    do throws(SystemError) {
      if let status = try fileSystem.status(of: path) {
        guard status.kind == .folder else { throw SystemError(code: ENOTDIR) }
      } else {
        try fileSystem.makeFolder(path)
      }
    } catch  where error.code == EEXIST {
      // Another process has just created it.
    } catch {
      throw .cannotMakeFolder(self.path, "\(path): \(error.text)", cause: error)
    }
  }

  /// The names of everything in the folder.
  func names() throws(CacheError) -> [String] {
    try call("list", path) { () throws(SystemError) in try fileSystem.names(in: path) }
  }

  /// The namespaces that have a file of the store, in order.
  func namespaces() throws(CacheError) -> [String] {
    try parts().compactMap { Self.namespace(ofFile: $0) }.sorted()
  }

  func status(of path: String) throws(CacheError) -> FileStatus? {
    try call("look at", path) { () throws(SystemError) in try fileSystem.status(of: path) }
  }

  /// An open file with its status and content, or the first `limit` bytes of it; `nil` if there is none.
  func read(
    _ path: String, atMost limit: Int = .max
  ) throws(CacheError) -> (file: OpenFile, status: FileStatus, bytes: [UInt8])? {
    guard let file = try openIfPresent(path) else { return nil }
    let status = try call("look at", path) { () throws(SystemError) in try fileSystem.status(of: file) }
    guard status.kind == .regular else { throw CacheError(PlistFormatError(message: "it is no file"), path: path) }
    return try call("read", path) { () throws(SystemError) in
      (file, status, try content(of: file, size: min(status.size, limit)))
    }
  }

  private func openIfPresent(_ path: String) throws(CacheError) -> OpenFile? {
    do {
      // Non-blocking, because opening a named pipe in the file's place would wait forever.
      return try fileSystem.open(path, flags: O_RDONLY | O_NONBLOCK)
    } catch {
      guard !error.isAbsence else { return nil }
      throw CacheError(error, action: "open", path: path)
    }
  }

  private func content(of file: OpenFile, size: Int) throws(SystemError) -> [UInt8] {
    var bytes = try fileSystem.read(file, count: size)
    while bytes.count < size {
      let more = try fileSystem.read(file, count: size - bytes.count)
      if more.isEmpty { break }
      bytes += more
    }
    return bytes
  }

  /// Writes a new file, accessible to the user alone; it must not exist yet.
  func write(_ bytes: [UInt8], to path: String, synchronized: Bool) throws(CacheError) -> OpenFile {
    try call("write", path) { () throws(SystemError) in
      let file = try fileSystem.open(path, flags: O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW)
      var rest = bytes[...]
      while !rest.isEmpty { rest = rest.dropFirst(try fileSystem.write(rest, to: file)) }
      if synchronized { try fileSystem.synchronize(file) }
      return file
    }
  }

  func rename(_ path: String, to newPath: String) throws(CacheError) {
    try call("replace", newPath) { () throws(SystemError) in try fileSystem.rename(path, to: newPath) }
  }

  /// Gives a file a second name.
  func link(_ path: String, to newPath: String) throws(CacheError) {
    try call("move aside", path) { () throws(SystemError) in try fileSystem.link(path, to: newPath) }
  }

  /// Removes a file, if it exists.
  func remove(_ path: String) throws(CacheError) {
    do {
      try fileSystem.unlink(path)
    } catch {
      guard !error.isAbsence else { return }
      throw CacheError(error, action: "remove", path: path)
    }
  }

  /// Waits until the folder's directory entries are on disk.
  func synchronize() throws(CacheError) {
    try call("synchronize", path) { () throws(SystemError) in
      try fileSystem.synchronize(try fileSystem.open(path, flags: O_RDONLY | O_DIRECTORY))
    }
  }
}
