internal import CacheCore
internal import EngineSupport
internal import FetchVocabulary
internal import Platform
package import StorageSPI

/// A small file beside a store, which several processes read and change under a lock.
package struct UsageFile: Sendable {
  /// The path of the file.
  let path: String
  /// How long to wait for the lock. Each process holds it for some microseconds; one that is suspended meanwhile must not
  /// stop the others for ever.
  var patience = Duration.seconds(60)

  /// Whether the file exists. Any other obstacle shows when the file is opened.
  var exists: Bool { faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT }

  /// Opens the file, creating it for the user alone if needed, and calls `body` while no other process has it open.
  func change<Output>(_ body: (Int32) throws(CacheError) -> Output) throws(CacheError) -> Output {
    if !exists { makeFolder() }
    return try withFile(O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, lock: LOCK_EX, body)
  }

  /// Makes sure that what is in the open file is ours to overwrite: it is empty, blank, or begins with `beginning`.
  ///
  /// - Throws: `CacheError` with the code `cannotCreate`: the file belongs to someone else.
  func requireOwn(_ descriptor: Int32, beginning: String) throws(CacheError) {
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    guard count >= 0 else { throw failure("cannot be read") }
    let text = bytes.prefix(count)
    if text.allSatisfy({ $0 <= UInt8(ascii: " ") }) || text.starts(with: beginning.utf8) { return }
    throw .notAStore(path, "it has the name of a file about a store's use, and other content")
  }

  /// Opens the file, which exists, and calls `body` while no process changes it.
  func read<Output>(_ body: (Int32) throws(CacheError) -> Output) throws(CacheError) -> Output {
    try withFile(O_RDONLY | O_NOFOLLOW | O_CLOEXEC, lock: LOCK_SH, body)
  }

  /// Creates the folder of the file with its parents, for the user alone: a store in memory or elsewhere has not made
  /// one. A failure shows when the file is opened.
  private func makeFolder() {
    for index in path.indices.dropFirst() where path[index] == "/" { mkdir(String(path[..<index]), 0o700) }
  }

  private func withFile<Output>(
    _ flags: Int32, lock: Int32, _ body: (Int32) throws(CacheError) -> Output
  ) throws(CacheError) -> Output {
    while true {
      let file = open(path, flags, 0o600)
      guard file >= 0 else { throw errno == ELOOP ? symbolicLink : failure("cannot be opened") }
      defer {
        // A process that is being started has the descriptor too, and with it the lock, until it runs its program.
        flock(file, LOCK_UN)
        close(file)
      }
      try take(lock, on: file)
      // The previous holder of the lock may have replaced the file.
      if isInPlace(file) { return try body(file) }
    }
  }

  private func take(_ lock: Int32, on file: Int32) throws(CacheError) {
    var start: ContinuousClock.Instant?
    while flock(file, lock | LOCK_NB) != 0 {
      guard errno == EWOULDBLOCK || errno == EINTR else { throw failure("cannot be locked") }
      let now = ContinuousClock.now
      if start == nil { start = now }
      guard let start, now < start + patience else {
        throw CacheError(
          .busy, "\(path) cannot be locked within \(patience): another process holds it",
          hint: "end that process, or let it go on")
      }
      usleep(500)
    }
  }

  private func isInPlace(_ file: Int32) -> Bool {
    guard let opened = Self.status(of: file) else { return true }
    var status = stat()
    return stat(path, &status) == 0 && status.st_ino == opened.st_ino && status.st_dev == opened.st_dev
  }

  /// This tool must not overwrite the target of a symbolic link.
  private var symbolicLink: CacheError {
    CacheError(
      .ioFailed, "\(path) is a symbolic link, which is not followed",
      hint: "remove it: the use of the store is counted in a file there")
  }

  /// The system's status of an open file.
  static func status(of file: Int32) -> stat? {
    var status = stat()
    return fstat(file, &status) == 0 ? status : nil
  }

  /// The failure for the current `errno`.
  func failure(_ what: String) -> CacheError {
    let number = errno
    let isRefusal = [EACCES, EPERM, EROFS].contains(number)
    return CacheError(
      isRefusal ? .permissionDenied : .ioFailed,
      "\(path) \(what): \(String(cString: strerror(number)))", hint: "check its permissions and the free space")
  }
}

/// The files that record the use of a store. They are next to the store and named after it, except the uses of a store
/// whose engine has put its mark into a folder: they are in that file. Those of a store without a path are in the home,
/// named after the engine and, unless it is in the usual place, a digest of its address.
package struct UsageFiles: Sendable {
  /// The suffixes of their names.
  package static let suffixes = [".usage", ".uses", ".sweep"]

  /// How often the cache answered.
  package let operations: UsageFile
  /// When and how often each entry was read.
  package let accesses: UsageFile
  /// Where the next eviction goes on.
  package let sweep: UsageFile

  /// The files for the store of the engine that declares `declaration`, with `values` for its options.
  package init(of declaration: EngineDeclaration, _ values: [String: OptionValue], home: String) {
    let given = Self.path(of: declaration, values, home: home)
    // An engine puts the mark of a file beside the file itself. One beside the link would outlive the link.
    let path = if case .file(_)? = try? StorePlace(given) { StorePlace.resolved(given) } else { given }
    let files = Self.suffixes.map { UsageFile(path: path + $0) }
    let mark = StoreMark(inFolder: path)
    operations = files[0]
    sweep = files[2]
    accesses = mark.isPresent ? UsageFile(path: mark.path) : files[1]
  }

  /// What the paths of files beside that store begin with.
  static func path(of declaration: EngineDeclaration, _ values: [String: OptionValue], home: String) -> String {
    var path = "\(home)/\(declaration.name)" + (declaration.digest(ofAddressIn: values).map { "-\($0)" } ?? "")
    if case .text(let text)? = values["path"] { path = text }
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    return path
  }

  /// Whether files called `name`, without their suffix, may belong to a store of `engine` on a server.
  package static func mayBeOnServer(_ name: String, _ engine: String) -> Bool {
    guard name.hasPrefix("\(engine)-") else { return false }
    let digest = name.utf8.dropFirst(engine.utf8.count + 1)
    return digest.count == EngineDeclaration.digestLength
      && digest.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
  }
}

extension EngineDeclaration {
  fileprivate static let digestLength = 16

  /// A digest of the address and the name of the store, which tell stores on servers apart; `nil` if both are the usual
  /// ones.
  fileprivate func digest(ofAddressIn values: [String: OptionValue]) -> String? {
    let parts = options.filter { $0.name == "url" || $0.kind == .storeName }
    let given = parts.map { values[$0.name] ?? $0.defaultValue }
    guard given != parts.map(\.defaultValue) else { return nil }
    var digest = SHA256()
    for (option, value) in zip(parts, given) {
      if case .text(let text)? = value { digest.update(Array("\(option.name)=\(text)\n".utf8)) }
    }
    return String(digest.hexText.prefix(Self.digestLength))
  }
}
