internal import CacheDomain

/// A file opened before a long piece of work, so that a failure comes early, and written after it.
final class PendingFile {
  private var file: AtomicFile?

  /// Opens the file at `path`; an existing file stays until `finish`.
  ///
  /// - Throws: `CacheError`: `ioFailed`, `noSpace`.
  init(_ path: String) throws(CacheError) { file = try AtomicFile(path) }

  /// Writes the file. If it is not called, nothing changes.
  ///
  /// - Throws: `CacheError`: `ioFailed`, `noSpace`.
  func finish(_ bytes: [UInt8]) throws(CacheError) {
    guard let file = file.take() else { return }
    try file.write(bytes)
    try file.commit()
  }
}
