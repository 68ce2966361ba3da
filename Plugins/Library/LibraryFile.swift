internal import Platform
internal import StorageSPI

/// A library file that is safe to load: only the user and root can change its content.
struct LibraryFile: Sendable, Hashable {
  /// The absolute path, without symbolic links.
  let path: String
  /// The name of the engine, from the file name.
  let engineName: String
  private let device: UInt64
  private let inode: UInt64

  /// Checks the file at `path` and every folder on the way to it; if it is a symbolic link, also the folders on the way
  /// to the link. All of them must belong to `user` or to root.
  ///
  /// - Throws: `CacheError`: `invalidPlugin` if there is no such file or it is not named like a plugin,
  ///   `permissionDenied` if others could change it.
  init(_ path: String, for user: uid_t = geteuid()) throws(CacheError) {
    let name = path.split(separator: "/").last.map(String.init) ?? path
    guard let engineName = Self.engineName(of: name) else {
      throw CacheError(
        .invalidPlugin, "'\(path)' is not called libcachectl-NAME.so",
        hint: "NAME is the engine's: a lower-case letter, then lower-case letters and digits")
    }
    self.engineName = engineName
    self.path = try Self.resolved(path)
    let status = try Self.checkedStatus(ofFile: self.path, user)
    (device, inode) = (UInt64(status.st_dev), UInt64(status.st_ino))
    try Self.checkFolders(onTheWayTo: self.path, user)
    try Self.checkFolders(onTheWayTo: try Self.resolved(Self.folder(of: path)) + "/" + name, user)
  }

  /// Throws `invalidPlugin`, with a sentence that starts with the library, unless `condition` holds.
  func require(
    _ condition: Bool, _ what: @autoclosure () -> String, hint: @autoclosure () -> String
  ) throws(CacheError) {
    guard condition else { throw CacheError(.invalidPlugin, "library \(path) \(what())", hint: hint()) }
  }

  /// The name of the engine in a library called `name`; `nil` if that is not the name of a plugin.
  private static func engineName(of name: String) -> String? {
    guard name.hasPrefix("libcachectl-"), name.hasSuffix(".so"), name.utf8.count > 15 else { return nil }
    let engine = String(name.dropFirst(12).dropLast(3))
    return CacheKey.isNamespace(engine) ? engine : nil
  }

  private static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  private static func resolved(_ path: String) throws(CacheError) -> String {
    guard let resolved = realpath(path, nil) else { throw unreachable(path, errno) }
    defer { free(resolved) }
    guard let text = String(validatingCString: resolved) else {
      throw CacheError(.invalidPlugin, "the path of library '\(path)' is not UTF-8", hint: "move it elsewhere")
    }
    return text
  }

  private static func status(of path: String) throws(CacheError) -> stat {
    var status = stat()
    guard lstat(path, &status) == 0 else { throw unreachable(path, errno) }
    return status
  }

  private static func checkedStatus(ofFile path: String, _ user: uid_t) throws(CacheError) -> stat {
    let status = try status(of: path)
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw CacheError(.invalidPlugin, "'\(path)' is not a file", hint: "name the library itself")
    }
    try check(status, "library", path, user, allowsSticky: false)
    return status
  }

  private static func checkFolders(onTheWayTo path: String, _ user: uid_t) throws(CacheError) {
    var folder = folder(of: path)
    try check(try status(of: folder), "folder", folder, user, allowsSticky: false)
    while folder != "/" {
      folder = Self.folder(of: folder)
      try check(try status(of: folder), "folder", folder, user, allowsSticky: true)
    }
  }

  /// Throws `permissionDenied` if anyone but the user and root can change the item at `path`. In a sticky folder others
  /// can add names, but neither move nor remove the user's.
  private static func check(
    _ status: stat, _ what: String, _ path: String, _ user: uid_t, allowsSticky: Bool
  ) throws(CacheError) {
    guard status.st_uid == 0 || status.st_uid == user else {
      throw CacheError(
        .permissionDenied, "\(what) \(path) of an engine belongs to another user",
        hint: "engines are loaded only from where other users cannot change them: chown it, or copy the library")
    }
    let isSticky = allowsSticky && status.st_mode & S_ISVTX != 0
    guard status.st_mode & (S_IWGRP | S_IWOTH) == 0 || isSticky else {
      throw CacheError(
        .permissionDenied, "\(what) \(path) of an engine may be changed by others", hint: "run: chmod go-w \(path)")
    }
  }

  private static func unreachable(_ path: String, _ code: Int32) -> CacheError {
    let reason = String(cString: strerror(code)).lowercased()
    if code == EACCES {
      return CacheError(.permissionDenied, "library \(path) cannot be reached: \(reason)", hint: "check its folders")
    }
    return CacheError(.invalidPlugin, "library \(path) cannot be found: \(reason)")
  }
}
