internal import Platform

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
