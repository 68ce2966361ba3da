import CacheBase

/// A pipe with a name, to read what a program writes to it.
struct NamedPipe {
  private let descriptor: Descriptor

  /// Makes the pipe at `path` and opens it for reading, without waiting for a writer.
  ///
  /// - Throws: `SystemFailure`.
  init(_ path: String) throws(SystemFailure) {
    try SystemFailure.check("mkfifo", mkfifo(path, 0o600))
    descriptor = try Descriptor("open", open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC))
  }

  /// What is written until a line that begins with "ACCEPT" is complete, or the last writer has ended. A writer must be
  /// there.
  func lines() -> String {
    _ = fcntl(descriptor.number, F_SETFL, 0)
    var text = ""
    while !text.contains(/ACCEPT .*\n/) {
      let bytes = [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
        count = max(0, read(descriptor.number, buffer.baseAddress, 4096))
      }
      guard !bytes.isEmpty else { break }
      text += String(decoding: bytes, as: UTF8.self)
    }
    return text
  }
}
