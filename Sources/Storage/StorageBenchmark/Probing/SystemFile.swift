internal import Glibc

/// Reads the small files of the kernel about the system.
enum SystemFile {
  /// The lines of the file at `path`, at most 1 MiB of it; empty if it cannot be read.
  static func lines(_ path: String) -> [Substring] {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return [] }
    defer { close(file) }
    var bytes: [UInt8] = []
    while bytes.count < 1 << 20 {
      let part = readPart(file)
      if part.isEmpty { break }
      bytes += part
    }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
  }

  private static func readPart(_ file: Int32) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
      count = max(0, read(file, buffer.baseAddress, buffer.count))
    }
  }
}
