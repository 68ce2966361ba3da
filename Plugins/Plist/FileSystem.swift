/// The system calls of this engine, in one place, so that a test can make any of them fail.
///
/// Paths are passed as they are. Every method is one system call, repeated where a signal interrupted it.
protocol FileSystem: Sendable {
  /// Opens a file with `open`'s `flags`, to be closed when a child process starts; a new file is for the user alone.
  func open(_ path: String, flags: Int32) throws(SystemError) -> OpenFile
  /// The status of what is at `path`; `nil` where nothing is.
  func status(of path: String) throws(SystemError) -> FileStatus?
  /// The status of an open file.
  func status(of file: OpenFile) throws(SystemError) -> FileStatus
  /// The next bytes of a file, at most `count`; empty at its end.
  func read(_ file: OpenFile, count: Int) throws(SystemError) -> [UInt8]
  /// Writes some of `bytes`, and says how many.
  func write(_ bytes: ArraySlice<UInt8>, to file: OpenFile) throws(SystemError) -> Int
  /// Waits until the file or folder is on its medium.
  func synchronize(_ file: OpenFile) throws(SystemError)
  /// Locks the file until it is unlocked or closed, and says whether it could: `false` where another handle holds it.
  func lock(_ file: OpenFile, exclusively: Bool) throws(SystemError) -> Bool
  /// Releases a lock, even if a child process that is about to start still has the file open.
  func unlock(_ file: OpenFile)
  /// Gives a file another name, in place of what had that name.
  func rename(_ path: String, to newPath: String) throws(SystemError)
  /// Gives a file a second name, which must be free.
  func link(_ path: String, to newPath: String) throws(SystemError)
  /// Removes a file.
  func unlink(_ path: String) throws(SystemError)
  /// Makes one folder for the user alone.
  func makeFolder(_ path: String) throws(SystemError)
  /// The names in a folder, in no order.
  func names(in path: String) throws(SystemError) -> [String]
}

/// The failure of a system call.
struct SystemError: Error, Hashable {
  /// The value of `errno`.
  let code: Int32
}

/// What tells one state of a file from another.
///
/// While a file is kept open, its inode is not given to another file; a file that replaced it therefore always differs.
struct FileStatus: Sendable, Hashable {
  enum Kind: Sendable { case regular, folder, other }

  let kind: Kind
  let device: UInt64
  let inode: UInt64
  let size: Int
  /// The time of the last change of the content, in nanoseconds.
  let modified: Int64
  /// The time of the last change of content, name, links or permissions, in nanoseconds.
  let changed: Int64
}
