/// What the doctor asks of the file system. Nothing is ever changed.
protocol FileInspection: Sendable {
  /// The number of the user as whom this process works with files.
  var user: UInt32 { get }

  /// What is at `path`, links followed; `nil` where nothing is, or it cannot be reached.
  func file(at path: String) -> InspectedFile?

  /// Whether this process may make files in the folder, or change the file, at `path`.
  func mayWrite(_ path: String) -> Bool

  /// The names in the folder at `path`, sorted; none where it cannot be read.
  func names(in path: String) -> [String]

  /// The space of the file system that `path` is on; `nil` where it cannot be told.
  func space(at path: String) -> FileSystemSpace?

  /// The text of a small file, such as those in /proc; `nil` where it cannot be read.
  func text(of path: String) -> String?

  /// What the symbolic link at `path` leads to; `nil` where it is none, or cannot be read.
  func target(of path: String) -> String?

  /// `path` without any symbolic links in it; `nil` where there is nothing.
  func realPath(of path: String) -> String?
}

/// A file or folder.
struct InspectedFile: Sendable, Hashable {
  /// A kind of file.
  enum Kind: Sendable, Hashable { case file, folder, other }

  var kind: Kind
  /// The permissions: the lower 12 bits of the mode.
  var mode: UInt32
  /// The number of the user that it belongs to.
  var owner: UInt32
  /// The device, as `major:minor`, and the number of the file on it.
  var identity: FileIdentity
  /// When its contents were changed last, in milliseconds since 1970-01-01T00:00:00Z.
  var changedAt: Int64
  /// Its size in bytes.
  var size: Int

  /// Whether others than the owner may change it.
  var isWritableByOthers: Bool { mode & 0o022 != 0 }
  /// Whether others than the owner may read it or look into it.
  var isReadableByOthers: Bool { mode & 0o055 != 0 }
  /// Whether anybody may add names to the folder and take away those of others.
  var isOpenToAll: Bool { mode & 0o002 != 0 && !isSticky }
  /// Whether those who may add names to the folder may take away their own only.
  var isSticky: Bool { mode & 0o1000 != 0 }
  /// The permissions as chmod(1) takes them.
  var modeText: String { String(mode & 0o777, radix: 8) }
}

/// Which file on which device, as /proc/locks names it.
struct FileIdentity: Sendable, Hashable {
  let major: UInt32
  let minor: UInt32
  let number: UInt64
}

/// How much room there is on a file system.
struct FileSystemSpace: Sendable, Hashable {
  /// The bytes that this user may still write.
  var free: Int
  /// Whether nothing can be written at all.
  var isReadOnly: Bool
}

extension FileInspection {
  /// The nearest folder on the way to `path` that is there.
  func nearestFolder(of path: String) -> String {
    var path = path
    while path != "/", !path.isEmpty, file(at: path) == nil { path = Self.parent(of: path) }
    return path.isEmpty ? "/" : path
  }

  /// The folder that holds `path`.
  static func parent(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return "/" }
    return String(path[..<slash])
  }
}
