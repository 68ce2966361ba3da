internal import EngineSupport
internal import Platform
internal import StorageSPI

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

  /// Whether the file of `namespace` belongs to the store, or does not exist.
  func owns(_ namespace: String) throws(CacheError) -> Bool {
    if try listedNamespaces().contains(namespace) { return true }
    return try isFreeOrOwn(path(of: namespace))
  }

  private func isFreeOrOwn(_ file: String) throws(CacheError) -> Bool {
    try status(of: file) == nil ? true : isOwn(file)
  }

  /// Whether a file says by itself that it belongs to a store.
  private func isOwn(_ file: String) throws(CacheError) -> Bool {
    guard try status(of: file)?.kind == .regular, let head = try read(file, atMost: Self.headSize)?.bytes else {
      return false
    }
    return Self.isHead(head)
  }

  /// Whether `bytes` begin a JSON object whose first members, in any order, are a format and a namespace.
  private static func isHead(_ bytes: [UInt8]) -> Bool {
    var json = JSONReader(bytes)
    guard json.skip(UInt8(ascii: "{")) else { return false }
    var members: Set<String> = []
    while members.count < 2 {
      guard let name = try? json.string(), json.skip(UInt8(ascii: ":")) else { return false }
      switch name {
      case "format": guard (try? json.integer()) != nil else { return false }
      case "namespace": guard let text = try? json.string(), CacheKey.isNamespace(text) else { return false }
      default: return false
      }
      members.insert(name)
      if members.count < 2, !json.skip(UInt8(ascii: ",")) { return false }
    }
    return true
  }

  private func hasJournal() throws(CacheError) -> Bool {
    guard try status(of: journalPath)?.kind == .regular, let head = try read(journalPath, atMost: 64)?.bytes else {
      return false
    }
    return PlistJournal.isHead(head)
  }
}
