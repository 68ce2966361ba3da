/// Reads small files, such as those in /proc, with a single call.
package enum SmallFile {
  private static let maximumLength = 4_096

  /// The text of the file; `nil` if it cannot be read, or is empty.
  package static func text(_ path: String) -> String? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    return bytes { CacheBase.read(file, $0.baseAddress, $0.count) }
  }

  /// The target of a symbolic link.
  package static func target(_ path: String) -> String? {
    bytes { buffer in
      guard let start = buffer.baseAddress else { return 0 }
      return start.withMemoryRebound(to: CChar.self, capacity: buffer.count) { readlink(path, $0, buffer.count) }
    }
  }

  private static func bytes(_ fill: (UnsafeMutableBufferPointer<UInt8>) -> Int) -> String? {
    let bytes = [UInt8](unsafeUninitializedCapacity: maximumLength) { buffer, count in count = max(0, fill(buffer)) }
    return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
  }
}
