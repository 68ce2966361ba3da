/// All system calls of this engine in one place, so that a test can make any of them fail.
///
/// Paths are passed unchanged. Every method is one system call, retried if a signal interrupts it.
protocol FileSystem: Sendable {
  /// Opens a file with the `flags` of `open`. The file is closed on exec; a new one is accessible to the user alone.
  func open(_ path: String, flags: Int32) throws(SystemError) -> OpenFile
  /// The status of the item at `path`; `nil` if there is none.
  func status(of path: String) throws(SystemError) -> FileStatus?
  /// The status of an open file.
  func status(of file: OpenFile) throws(SystemError) -> FileStatus
  /// The next bytes of a file, at most `count`; empty at its end.
  func read(_ file: OpenFile, count: Int) throws(SystemError) -> [UInt8]
  /// Writes some of `bytes`, and returns how many.
  func write(_ bytes: ArraySlice<UInt8>, to file: OpenFile) throws(SystemError) -> Int
  /// Waits until the file or folder is on disk.
  func synchronize(_ file: OpenFile) throws(SystemError)
  /// Locks the file until it is unlocked or closed; returns `false` if another handle holds the lock.
  func lock(_ file: OpenFile, exclusively: Bool) throws(SystemError) -> Bool
  /// Releases a lock, even if a child process that is about to start has inherited the file.
  func unlock(_ file: OpenFile)
  /// Renames a file, replacing any file of the new name.
  func rename(_ path: String, to newPath: String) throws(SystemError)
  /// Gives a file a second name, which must not exist.
  func link(_ path: String, to newPath: String) throws(SystemError)
  /// Removes a file.
  func unlink(_ path: String) throws(SystemError)
  /// Creates one folder, accessible to the user alone.
  func makeFolder(_ path: String) throws(SystemError)
  /// The names in a folder, in no particular order.
  func names(in path: String) throws(SystemError) -> [String]
}

/// A failed system call.
struct SystemError: Error, Hashable {
  /// The value of `errno`.
  let code: Int32
}

/// Distinguishes the states of a file.
///
/// While a file is open, no other file gets its inode; so a file that replaced it always has another status.
struct FileStatus: Sendable, Hashable {
  enum Kind: Sendable { case regular, folder, other }

  let kind: Kind
  let device: UInt64
  let inode: UInt64
  let size: Int
  /// The last change of the content, in nanoseconds.
  let modified: Int64
  /// The last change of content, name, links or permissions, in nanoseconds.
  let changed: Int64
}
