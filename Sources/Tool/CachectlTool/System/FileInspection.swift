internal import CacheBase

/// The doctor's reads of the file system. They change nothing.
protocol FileInspection: Sendable {
  /// The number of the user whose permissions apply to this process.
  var user: UInt32 { get }

  /// The file at `path`, following links; `nil` if there is none, or it cannot be reached.
  func file(at path: String) -> InspectedFile?

  /// Whether this process can create files in the folder at `path`, or change the file there.
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
struct InspectedFile: Sendable, Hashable {
  enum Kind: Sendable, Hashable { case file, folder, other }

  var kind: Kind
  /// The permissions: the lower 12 bits of the mode.
  var mode: UInt32
  /// The number of its owner.
  var owner: UInt32
  /// The time of the last change of its contents, in milliseconds since 1970-01-01T00:00:00Z.
  var changedAt: Int64
  /// Its size in bytes.
  var size: Int

  /// Whether users other than the owner can change it.
  var isWritableByOthers: Bool { mode & 0o022 != 0 }
  /// Whether users other than the owner can read it or look into it.
  var isReadableByOthers: Bool { mode & 0o055 != 0 }
  /// Whether any user can add names to the folder and remove other users' names.
  var isOpenToAll: Bool { mode & 0o002 != 0 && !isSticky }
  /// Whether users can remove only their own names from the folder.
  var isSticky: Bool { mode & 0o1000 != 0 }
  /// The permissions in the octal notation of chmod(1).
  var modeText: String { String(mode & 0o777, radix: 8) }
}

struct FileSystemSpace: Sendable, Hashable {
  /// The bytes that this user can still write.
  var free: Int
  var isReadOnly: Bool
}

extension FileInspection {
  /// The nearest existing folder on the way to `path`.
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

/// The real file system, for the doctor.
struct SystemFileInspection: FileInspection {
  var user: UInt32 { geteuid() }

  func file(at path: String) -> InspectedFile? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    let changed = status.contentsChangedAt
    let kind: InspectedFile.Kind =
      switch status.st_mode & S_IFMT {
      case S_IFREG: .file
      case S_IFDIR: .folder
      default: .other
      }
    return InspectedFile(
      kind: kind, mode: UInt32(status.st_mode & 0o7777), owner: status.st_uid,
      changedAt: Int64(changed.tv_sec) * 1_000 + Int64(changed.tv_nsec) / 1_000_000,
      size: Int(status.st_size))
  }

  func mayWrite(_ path: String) -> Bool { faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0 }

  func names(in path: String) -> [String] { (Folders.names(in: path) ?? []).sorted() }

  func space(at path: String) -> FileSystemSpace? {
    var space = statvfs()
    guard statvfs(path, &space) == 0 else { return nil }
    let (free, overflow) = Int(space.f_bavail).multipliedReportingOverflow(by: Int(space.f_frsize))
    return FileSystemSpace(free: overflow ? .max : free, isReadOnly: space.f_flag & UInt(ST_RDONLY) != 0)
  }

  func text(of path: String) -> String? {
    guard let bytes = (try? ConfigurationFiles.contents(of: path)) ?? nil else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  func target(of path: String) -> String? { SmallFile.target(path) }

  func realPath(of path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }
}
