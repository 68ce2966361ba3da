/// The user's home folder, which `~` stands for.
public enum HomeFolder {
  /// Its absolute path: `HOME`, otherwise the system's record of the user, otherwise the root. A relative path would
  /// depend on the working folder. To look the user up takes twenty system calls.
  public static var path: String {
    if let home = getenv("HOME").map({ String(cString: $0) }), home.hasPrefix("/") { return home }
    if let home = registered, home.hasPrefix("/") { return home }
    return "/"
  }

  /// The home folder in the system's user database; `nil` if the user is not in it.
  private static var registered: String? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16_384) { buffer in
      var (entry, found) = (passwd(), UnsafeMutablePointer<passwd>?.none)
      guard let start = buffer.baseAddress, getpwuid_r(geteuid(), &entry, start, buffer.count, &found) == 0,
        found != nil
      else { return nil }
      return entry.pw_dir.map { String(cString: $0) }
    }
  }

  /// `path` with `home` in the place of a leading `~`; any other path as it is. The home folder of another user, as in
  /// `~ann`, is not known.
  public static func expanded(_ path: String, home: @autoclosure () -> String = HomeFolder.path) -> String {
    guard path == "~" || path.hasPrefix("~/") else { return path }
    let home = home()
    return (home == "/" && path != "~" ? "" : home) + String(Substring(path.utf8.dropFirst()))
  }
}

/// Removes folders with everything in them.
public enum FolderRemoval {
  /// Removes the file or folder at `path`; if it is a link, only the link. What cannot be removed stays, together with
  /// its parent folders.
  public static func remove(_ path: String) {
    if unlink(path) == 0 { return }
    // `unlink` fails for a folder: EISDIR on Linux, EPERM in POSIX.
    guard errno == EISDIR || errno == EPERM, let folder = opendir(path) else { return }
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { remove("\(path)/\(name)") }
    }
    closedir(folder)
    rmdir(path)
  }
}
