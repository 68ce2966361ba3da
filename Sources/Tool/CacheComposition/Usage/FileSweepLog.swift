internal import FetchVocabulary
internal import Platform
internal import ResponseStorage

/// Keeps the place of evictions in a file beside the store, as some kilobytes of text.
///
/// Processes that end at the same time overwrite each other: then some entries are looked at twice.
struct FileSweepLog: SweepLog {
  /// Larger files are not from this program.
  private static let maximumSize = 1 << 20

  /// The file.
  let file: UsageFile

  func load() -> String? {
    guard file.exists else { return nil }
    return try? file.read { descriptor throws(CacheError) -> String? in
      guard let size = UsageFile.status(of: descriptor)?.st_size, size > 0, size <= Self.maximumSize else { return nil }
      let bytes = [UInt8](unsafeUninitializedCapacity: Int(size)) { buffer, filled in
        filled = max(0, pread(descriptor, buffer.baseAddress, buffer.count, 0))
      }
      return String(validating: bytes, as: UTF8.self)
    }
  }

  func save(_ text: String) throws(CacheError) {
    try file.change { descriptor throws(CacheError) in
      try file.requireOwn(descriptor, beginning: "sweep-")
      let bytes = Array(text.utf8)
      guard pwrite(descriptor, bytes, bytes.count, 0) == bytes.count, ftruncate(descriptor, off_t(bytes.count)) == 0
      else { throw file.failure("cannot be written") }
    }
  }
}
