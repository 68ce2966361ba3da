internal import StorageSPI

/// The entries of a namespace, and the file that they were read from or written to.
///
/// The file stays open: as long as it does, no other file has its inode, and a status equal to `status` means that
/// nothing has changed.
struct PlistFile: Sendable {
  let path: String
  var table: EntryTable
  /// The open file; `nil` where there was none.
  var file: OpenFile?
  /// Its status; `nil` where there was none.
  var status: FileStatus?
}
