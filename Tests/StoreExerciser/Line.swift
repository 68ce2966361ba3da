import CacheBase

/// The messages of the process to the one that started it.
enum Line {
  /// Writes a line with one call of the system: nothing is held back.
  static func write(_ text: String) {
    let bytes = Array((text.replacing("\n", with: " ") + "\n").utf8)
    _ = CacheBase.write(STDOUT_FILENO, bytes, bytes.count)
  }

  /// Ends the process.
  static func exit(_ status: Int32) -> Never { CacheBase.exit(status) }
}
