/// The mark of a store outside of its format: the head of the table of uses next to it.
///
/// A store has one mark inside its format and this one, which an engine creates before the first byte of the store.
/// Either makes the store ours: if the other one cannot be read, the store is damaged. Whatever has neither, and is not
/// empty, belongs to someone else, and an engine refuses it before it creates or changes anything.
public struct StoreMark: Sendable {
  /// The first eight bytes of a table of uses.
  public static let magic: UInt64 = 0x3273_6573_7568_6163
  /// The head of a table without anything: `magic`, seven numbers, and a checksum.
  private static let head = ([magic] + Array(repeating: 0, count: 7) + [0x5948_3BBF_592E_A749]).map(\.littleEndian)

  /// The file.
  public let path: String

  /// The mark of the store that is the file `store`.
  public init(ofFile store: String) { path = store + ".uses" }

  /// The mark of the store that is the folder `store`.
  public init(inFolder store: String) { path = store + "/store.uses" }

  /// Whether there is one. Cost: three system calls.
  public var isPresent: Bool {
    let file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return false }
    defer { close(file) }
    var start: UInt64 = 0
    return pread(file, &start, 8, 0) == 8 && UInt64(littleEndian: start) == Self.magic
  }

  /// Creates the mark, accessible to the user alone, unless there is one.
  ///
  /// - Throws: `CacheError`: `cannotCreate` if another file has its name, or none can be made; `permissionDenied`,
  ///   `noSpace`, `busy`.
  public func create() throws(CacheError) {
    if isPresent { return }
    let files = StoreFiles()
    let flags = O_RDWR | O_CREAT | O_NOFOLLOW
    try files.withLock(on: path, flags, within: .seconds(60)) { file throws(CacheError) in
      // Another process might have created it meanwhile, and already use it.
      if isPresent { return }
      let status = try files.status(of: file)
      guard status.isRegular, status.size == 0 else {
        throw .notAStore(path, "it has the name of the file that marks a store")
      }
      try files.write(
        Self.head.flatMap { word in withUnsafeBytes(of: word) { Array($0) } }, to: path, O_WRONLY | O_NOFOLLOW)
    }
  }

  /// Removes the mark, if there is one, after the store was removed.
  public func remove() { if isPresent { unlink(path) } }

  /// Whether there is a store in the folder `store`.
  ///
  /// - Parameter content: what a folder with these names holds, by the marks inside the format of the files. It is only
  ///   called for a folder that is not empty, and has no mark.
  /// - Throws: `CacheError`: `cannotCreate` if the files belong to someone else, `permissionDenied`, `ioFailed`.
  public static func isStore(
    inFolder store: String, _ content: (Set<String>) throws(CacheError) -> FolderContent
  ) throws(CacheError) -> Bool {
    switch try StorePlace(store) {
    case .nothing: return false
    case .folder: break
    case .file, .other: throw .notAStore(store, "it is not a directory")
    }
    let mark = StoreMark(inFolder: store)
    if mark.isPresent { return true }
    var names = try StoreFiles().names(in: store)
    // A process that died while it created the mark has left an empty file.
    if try StorePlace(mark.path) == .file(size: 0) { names.remove("store.uses") }
    switch names.isEmpty ? .nothing : try content(names) {
    case .store: return true
    // Another process might have created the store since: its mark was there before its files.
    case .nothing: return mark.isPresent
    case .others where mark.isPresent: return true
    case .others: throw .notAStore(store, "it is a directory with other files, such as \(names.min() ?? "")")
    }
  }

  /// The content of a folder without a mark.
  public enum FolderContent: Sendable {
    /// No more than what a store leaves that was removed: a new one can be created.
    case nothing
    /// A store, damaged or not.
    case store
    /// Files that belong to someone else.
    case others
  }
}

/// The kind of file at the path of a store, with links followed.
public enum StorePlace: Sendable, Hashable {
  /// Nothing. A store can be created there, unless the system refuses.
  case nothing
  /// A regular file of this many bytes.
  case file(size: Int)
  /// A folder.
  case folder
  /// A device, a pipe or a socket.
  case other

  /// Looks at `path`.
  ///
  /// - Throws: `CacheError`: `cannotCreate` if a link there, or above it, leads nowhere: the disk that it leads to
  ///   might not be mounted. `permissionDenied` if the system does not allow to look.
  public init(_ path: String) throws(CacheError) {
    var status = stat()
    guard stat(path, &status) == 0 else {
      guard errno == ENOENT || errno == ENOTDIR else { throw .system(errno, "reach", path) }
      try Self.requireNoDanglingLink(path)
      self = .nothing
      return
    }
    switch status.st_mode & S_IFMT {
    case S_IFREG: self = .file(size: Int(status.st_size))
    case S_IFDIR: self = .folder
    default: self = .other
    }
  }

  /// Looks for a link that leads nowhere among `path` and the folders above it.
  private static func requireNoDanglingLink(_ path: String) throws(CacheError) {
    var (rest, status) = (path[...], stat())
    while !rest.isEmpty {
      while rest.count > 1, rest.hasSuffix("/") { rest.removeLast() }
      let item = String(rest)
      if let target = SmallFile.target(item), stat(item, &status) != 0, errno == ENOENT {
        throw CacheError(
          .cannotCreate, "\(item) is a link to \(target), which does not exist",
          hint: "mount the disk that it leads to, or remove the link")
      }
      rest = rest[..<(rest.lastIndex(of: "/") ?? rest.startIndex)]
    }
  }

  /// The target of a symbolic link at `path`; `path` if it is not a link, or the link is broken.
  public static func resolved(_ path: String) -> String {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK, let target = realpath(path, nil) else {
      return path
    }
    defer { free(target) }
    return String(cString: target)
  }
}

extension CacheError {
  /// The error for files at `path` that belong to someone else.
  public static func notAStore(_ path: String, _ reason: String) -> CacheError {
    CacheError(
      .cannotCreate, "\(path) is not a store of cachectl: \(reason)", hint: "give another path; nothing was changed")
  }
}
