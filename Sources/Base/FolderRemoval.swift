internal import Glibc

/// Removes folders with all that is in them.
public enum FolderRemoval {
  /// Removes the file or folder at `path`; of a link only the link. What cannot be removed stays, with the folders that
  /// it is in.
  public static func remove(_ path: String) {
    if unlink(path) == 0 { return }
    // A folder is no file: EISDIR in Linux, EPERM in POSIX.
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
