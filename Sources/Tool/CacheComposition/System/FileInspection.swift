/// What the doctor reads from the file system. It changes nothing.
package protocol FileInspection: Sendable {
  /// The number of the user whose permissions apply to this process.
  var user: UInt32 { get }

  /// The file at `path`, following links; `nil` if there is none, or it cannot be reached.
  func file(at path: String) -> InspectedFile?

  /// Whether this process may create files in the folder at `path`, or change the file there.
  func mayWrite(_ path: String) -> Bool

  /// The names in the folder at `path`, sorted; none if it cannot be read.
  func names(in path: String) -> [String]

  /// The space of the file system that contains `path`; `nil` if unknown.
  func space(at path: String) -> FileSystemSpace?

  /// The text of a small file, such as those in /proc; `nil` if it cannot be read.
  func text(of path: String) -> String?

  /// The target of the symbolic link at `path`; `nil` if it is not a link, or cannot be read.
  func target(of path: String) -> String?

  /// `path` with all symbolic links resolved; `nil` if nothing is there.
  func realPath(of path: String) -> String?
}

/// A file or folder.
package struct InspectedFile: Sendable, Hashable {
  /// A kind of file.
  package enum Kind: Sendable, Hashable { case file, folder, other }

  package var kind: Kind
  /// The permissions: the lower 12 bits of the mode.
  package var mode: UInt32
  /// The number of its owner.
  package var owner: UInt32
  /// The device, as `major:minor`, and the file's number on it.
  package var identity: FileIdentity
  /// The time of the last change of its contents, in milliseconds since 1970-01-01T00:00:00Z.
  package var changedAt: Int64
  /// Its size in bytes.
  package var size: Int

  /// Whether users other than the owner may change it.
  package var isWritableByOthers: Bool { mode & 0o022 != 0 }
  /// Whether users other than the owner may read it or look into it.
  package var isReadableByOthers: Bool { mode & 0o055 != 0 }
  /// Whether any user may add names to the folder and remove other users' names.
  package var isOpenToAll: Bool { mode & 0o002 != 0 && !isSticky }
  /// Whether users may remove only their own names from the folder.
  package var isSticky: Bool { mode & 0o1000 != 0 }
  /// The permissions in the octal notation of chmod(1).
  package var modeText: String { String(mode & 0o777, radix: 8) }
}

/// Which file on which device, as /proc/locks names it.
package struct FileIdentity: Sendable, Hashable {
  package let major: UInt32
  package let minor: UInt32
  package let number: UInt64

  /// The file `number` of the device `major`:`minor`.
  package init(major: UInt32, minor: UInt32, number: UInt64) {
    (self.major, self.minor, self.number) = (major, minor, number)
  }
}

/// The space on a file system.
package struct FileSystemSpace: Sendable, Hashable {
  /// The bytes that this user can still write.
  package var free: Int
  /// Whether the file system is read-only.
  package var isReadOnly: Bool
}

extension FileInspection {
  /// The nearest existing folder on the way to `path`.
  package func nearestFolder(of path: String) -> String {
    var path = path
    while path != "/", !path.isEmpty, file(at: path) == nil { path = Self.parent(of: path) }
    return path.isEmpty ? "/" : path
  }

  /// The folder that holds `path`.
  package static func parent(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return "/" }
    return String(path[..<slash])
  }
}
