internal import EngineSupport
internal import StorageSPI

/// The entries of a namespace, with the file that they were read from or written to.
///
/// The file stays open. Meanwhile no other file can have its inode, so a status equal to `status` means that nothing
/// has changed.
struct PlistFile: Sendable {
  let path: String
  var table: EntryTable
  /// The open file; `nil` if there was none.
  var file: OpenFile?
  /// Its status; `nil` if there was none.
  var status: FileStatus?
}
