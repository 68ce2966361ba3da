internal import CacheDomain

/// A file that is begun before a long piece of work, so that it fails early, and written after it.
final class PendingFile {
  private var file: AtomicFile?

  /// Begins the file at `path`; what is there stays until `finish`.
  ///
  /// - Throws: `CacheError`: `ioFailed`, `noSpace`.
  init(_ path: String) throws(CacheError) { file = try AtomicFile(path) }

  /// Writes the file. Without a call nothing has changed in the end.
  ///
  /// - Throws: `CacheError`: `ioFailed`, `noSpace`.
  func finish(_ bytes: [UInt8]) throws(CacheError) {
    guard let file = file.take() else { return }
    try file.write(bytes)
    try file.commit()
  }
}
