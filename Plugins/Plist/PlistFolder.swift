internal import EngineSupport
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

  /// `path`, with a number appended if that name is taken.
  func freePath(_ path: String) throws(CacheError) -> String {
    var free = path
    var number = 1
    while try status(of: free) != nil {
      number += 1
      free = "\(path)-\(number)"
    }
    return free
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

/// Tells the files of a store from those of someone else, without changing anything.
///
/// A folder is a store if it has a mark: the one next to the files, or in one of them. In a store, a file with the name
/// of a namespace belongs to the store if the lock file lists the namespace, or if the file begins with its format and
/// a namespace. Any other file is neither read, renamed nor removed.
extension PlistFolder {
  /// The first line of a lock file with a list. A line for each namespace follows.
  private static let listHeader = "cachectl plist namespaces 1\n"
  /// The number of bytes in which a file says what it is.
  private static let headSize = 4_096

  /// Whether there is a store in the folder, damaged or not.
  ///
  /// - Throws: `CacheError`: `cannotCreate` if what is there belongs to someone else, `permissionDenied`, `ioFailed`.
  @discardableResult
  func requireOwn() throws(CacheError) -> Bool {
    try StoreMark.isStore(inFolder: path) { names throws(CacheError) in
      // The lock file stays where a store was removed.
      if names == [Self.lockName], try status(of: lockPath)?.size == 0 { return .nothing }
      if names.contains(Self.lockName), try !listedNamespaces().isEmpty { return .store }
      if names.contains(Self.journalName), try hasJournal() { return .store }
      for name in names {
        if let namespace = Self.namespace(ofFile: name), try isOwn(path(of: namespace)) { return .store }
      }
      return .others
    }
  }

  /// Creates the folder with its missing parents, and the mark in it, unless there is a store.
  func makeStore() throws(CacheError) {
    if try requireOwn() { return }
    let isThere = try StorePlace(path) == .folder
    if !isThere { try make() }
    do throws(CacheError) {
      try StoreMark(inFolder: path).create()
    } catch {
      // An empty folder that may not be written to is a store without entries.
      guard isThere, error.code == .permissionDenied else { throw error }
    }
  }

  /// The namespaces whose files this engine has written, or was about to write.
  func listedNamespaces() throws(CacheError) -> Set<String> {
    guard let list = try list(), list.hasPrefix(Self.listHeader) else { return [] }
    // The last line is empty, unless it was not written to its end.
    let lines = list.dropFirst(Self.listHeader.count).split(separator: "\n", omittingEmptySubsequences: false)
    return Set(lines.dropLast().filter { CacheKey.isNamespace($0) }.map(String.init))
  }

  /// The content of the lock file; `nil` if there is none, or the user may not read it: the files then tell for themselves.
  private func list() throws(CacheError) -> String? {
    guard try status(of: lockPath)?.kind == .regular else { return nil }
    do throws(CacheError) {
      return try read(lockPath).map { String(decoding: $0.bytes, as: UTF8.self) }
    } catch {
      guard error.code == .permissionDenied else { throw error }
      return nil
    }
  }

  /// Lists the `namespaces`, before the first byte of their files. Call this only under the exclusive lock.
  ///
  /// - Throws: `CacheError` with the code `cannotCreate` if another file has the name of one that is to be written.
  func list(_ namespaces: [String]) throws(CacheError) {
    let listed = try listedNamespaces()
    let new = namespaces.filter { !listed.contains($0) }
    guard !new.isEmpty else { return }
    for file in new.flatMap({ [path(of: $0), Self.temporaryPath(path(of: $0))] }) {
      guard try isFreeOrOwn(file) else {
        throw .notAStore(file, "it has the name of a file that the store needs")
      }
    }
    let list = try list() ?? ""
    let start: String
    if list.hasPrefix(Self.listHeader) {
      // A line that was not written to its end becomes one that is not a namespace.
      start = list.hasSuffix("\n") ? "" : " \n"
    } else if Self.listHeader.hasPrefix(list) {
      start = String(Self.listHeader.dropFirst(list.count))
    } else {
      return
    }
    let bytes = Array((start + new.map { $0 + "\n" }.joined()).utf8)
    try call("write", lockPath) { () throws(SystemError) in
      let file = try fileSystem.open(lockPath, flags: O_WRONLY | O_APPEND)
      var rest = bytes[...]
      while !rest.isEmpty { rest = rest.dropFirst(try fileSystem.write(rest, to: file)) }
    }
  }

  /// The names of the store's files in the folder, except the lock file, in order.
  func parts() throws(CacheError) -> [String] {
    let listed = try listedNamespaces()
    var parts: [String] = []
    for name in try names().sorted() {
      let stem = name.hasSuffix(Self.temporaryPath("")) ? name.dropLast(Self.temporaryPath("").count) : name[...]
      if stem == Self.journalName {
        parts.append(name)
      } else if let namespace = Self.namespace(ofFile: stem) {
        let isListed = listed.contains(namespace)
        if try isListed ? true : isOwn(path + "/" + name) { parts.append(name) }
      }
    }
    return parts
  }

  /// The total size of the store's files, in bytes.
  func size() throws(CacheError) -> Int {
    var size = 0
    for name in try parts() { size += try status(of: path + "/" + name)?.size ?? 0 }
    return size
  }

  /// Whether the file of `namespace` belongs to the store, or does not exist.
  func owns(_ namespace: String) throws(CacheError) -> Bool {
    if try listedNamespaces().contains(namespace) { return true }
    return try isFreeOrOwn(path(of: namespace))
  }

  private func isFreeOrOwn(_ file: String) throws(CacheError) -> Bool {
    try status(of: file) == nil ? true : isOwn(file)
  }

  /// Whether a file says by itself that it belongs to a store.
  private func isOwn(_ file: String) throws(CacheError) -> Bool { try format(ofFile: file) != nil }

  /// The format version in the head of a namespace's file; `nil` if the file has no head of any version.
  func format(ofFile file: String) throws(CacheError) -> Int? {
    guard try status(of: file)?.kind == .regular else { return nil }
    return try read(file, atMost: Self.headSize).flatMap { Self.format(ofHead: $0.bytes) }
  }

  /// The format, if `bytes` begin a JSON object whose first members, in any order, are a format and a namespace.
  private static func format(ofHead bytes: [UInt8]) -> Int? {
    var json = JSONReader(bytes)
    guard json.skip(UInt8(ascii: "{")) else { return nil }
    var format: Int?
    var namespace: String?
    while format == nil || namespace == nil {
      guard let name = try? json.string(), json.skip(UInt8(ascii: ":")) else { return nil }
      switch name {
      case "format" where format == nil:
        guard let number = try? json.integer() else { return nil }
        format = number
      case "namespace" where namespace == nil:
        guard let text = try? json.string(), CacheKey.isNamespace(text) else { return nil }
        namespace = text
      default: return nil
      }
      if format == nil || namespace == nil, !json.skip(UInt8(ascii: ",")) { return nil }
    }
    return format
  }

  private func hasJournal() throws(CacheError) -> Bool {
    guard try status(of: journalPath)?.kind == .regular, let head = try read(journalPath, atMost: 64)?.bytes else {
      return false
    }
    return PlistJournal.isHead(head)
  }
}
