internal import Glibc

/// The real file system, for the doctor.
package struct SystemFileInspection: FileInspection {
  /// The inspection of the real file system.
  package init() {}

  package var user: UInt32 { geteuid() }

  package func file(at path: String) -> InspectedFile? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    let kind: InspectedFile.Kind =
      switch status.st_mode & S_IFMT {
      case S_IFREG: .file
      case S_IFDIR: .folder
      default: .other
      }
    return InspectedFile(
      kind: kind, mode: status.st_mode & 0o7777, owner: status.st_uid,
      identity: FileIdentity(device: UInt64(status.st_dev), number: UInt64(status.st_ino)),
      changedAt: Int64(status.st_mtim.tv_sec) * 1_000 + Int64(status.st_mtim.tv_nsec) / 1_000_000,
      size: Int(status.st_size))
  }

  package func mayWrite(_ path: String) -> Bool { faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0 }

  package func names(in path: String) -> [String] {
    guard let folder = opendir(path) else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      // The entry is only as long as its name requires: do not copy it whole.
      let name = String(cString: UnsafeRawPointer(entry).advanced(by: nameOffset).assumingMemoryBound(to: CChar.self))
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  private var nameOffset: Int { MemoryLayout<dirent>.offset(of: \.d_name) ?? 0 }

  package func space(at path: String) -> FileSystemSpace? {
    var space = statvfs()
    guard statvfs(path, &space) == 0 else { return nil }
    let (free, overflow) = Int(space.f_bavail).multipliedReportingOverflow(by: Int(space.f_frsize))
    return FileSystemSpace(free: overflow ? .max : free, isReadOnly: space.f_flag & UInt(ST_RDONLY) != 0)
  }

  package func text(of path: String) -> String? {
    guard let bytes = (try? ConfigurationFiles.contents(of: path)) ?? nil else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  package func target(of path: String) -> String? {
    let bytes = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
      guard let start = buffer.baseAddress else { return }
      let length = start.withMemoryRebound(to: CChar.self, capacity: buffer.count) {
        readlink(path, $0, buffer.count)
      }
      count = max(0, length)
    }
    return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
  }

  package func realPath(of path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }
}

extension FileIdentity {
  /// The file `number` on `device`, whose number is composed as makedev(3) does.
  fileprivate init(device: UInt64, number: UInt64) {
    self.init(
      major: UInt32(truncatingIfNeeded: device >> 8 & 0xFFF | device >> 32 & 0xFFFF_F000),
      minor: UInt32(truncatingIfNeeded: device & 0xFF | device >> 12 & 0xFFFF_FF00), number: number)
  }
}
