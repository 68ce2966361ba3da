internal import CacheBase
internal import EngineAPI

/// A library file that is safe to load: only the user and root can change its content.
struct LibraryFile {
  /// The absolute path, without symbolic links.
  let path: String
  /// The name of the engine, from the file name.
  let engineName: String

  /// Checks the file at `path` and every directory on the way to it; if it is a symbolic link, also the directories on the
  /// way to the link. All of them must belong to `user` or to root.
  ///
  /// - Throws: `CacheError`: `invalidPlugin` if there is no such file or it is not named like a plugin,
  ///   `permissionDenied` if others could change it.
  init(_ path: String, for user: uid_t = geteuid()) throws(CacheError) {
    let name = path.split(separator: "/").last.map(String.init) ?? path
    let engineName = name.hasPrefix("libcachectl-") && name.hasSuffix(".so") ? name.dropFirst(12).dropLast(3) : ""
    guard CacheKey.isNamespace(engineName) else {
      throw CacheError(
        .invalidPlugin, "'\(path)' is not called libcachectl-NAME.so",
        hint: "NAME is the engine's: a lowercase letter, then lowercase letters and digits")
    }
    self.engineName = String(engineName)
    self.path = try Self.resolved(path)
    let status = try Self.checked("library", self.path, user)
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw CacheError(.invalidPlugin, "'\(self.path)' is not a file", hint: "name the library itself")
    }
    try Self.checkDirectories(to: self.path, user)
    // The name itself does not matter: with its directory checked, only the user can change what it leads to.
    try Self.checkDirectories(to: try Self.resolved(Self.parent(of: path)) + "/\(name)", user)
  }

  /// Checks the directory of `path` and all above it. In a sticky directory above it others can add names, but neither
  /// move nor remove the user's.
  private static func checkDirectories(to path: String, _ user: uid_t) throws(CacheError) {
    var directory = parent(of: path)
    _ = try checked("directory", directory, user)
    while directory != "/" {
      directory = parent(of: directory)
      _ = try checked("directory", directory, user, mayBeSticky: true)
    }
  }

  /// The status of the item at `path`.
  ///
  /// - Throws: `CacheError`: `permissionDenied` if anyone but the user and root can change it.
  private static func checked(
    _ what: String, _ path: String, _ user: uid_t, mayBeSticky: Bool = false
  ) throws(CacheError) -> stat {
    var status = stat()
    guard lstat(path, &status) == 0 else { throw unreachable(path) }
    guard status.st_uid == 0 || status.st_uid == user else {
      throw CacheError(
        .permissionDenied, "\(what) \(path) of an engine belongs to another user",
        hint: "engines are loaded only from where other users cannot change them: chown it, or copy the library")
    }
    let isSticky = mayBeSticky && status.st_mode & S_ISVTX != 0
    guard status.st_mode & (S_IWGRP | S_IWOTH) == 0 || isSticky else {
      throw CacheError(
        .permissionDenied, "\(what) \(path) of an engine can be changed by others", hint: "run: chmod go-w \(path)")
    }
    return status
  }

  private static func parent(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  private static func resolved(_ path: String) throws(CacheError) -> String {
    guard let resolved = realpath(path, nil) else { throw unreachable(path) }
    defer { free(resolved) }
    guard let text = String(validatingCString: resolved) else {
      throw CacheError(.invalidPlugin, "the path of library '\(path)' is not UTF-8", hint: "move it elsewhere")
    }
    return text
  }

  private static func unreachable(_ path: String) -> CacheError {
    let reason = String(cString: strerror(errno)).lowercased()
    if errno == EACCES {
      return CacheError(
        .permissionDenied, "library \(path) cannot be reached: \(reason)", hint: "check its directories")
    }
    return CacheError(.invalidPlugin, "library \(path) cannot be found: \(reason)")
  }
}
