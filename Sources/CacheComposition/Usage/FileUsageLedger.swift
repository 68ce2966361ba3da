internal import CacheDomain
internal import Glibc
internal import ResponseStorage

/// Keeps the sums in a file of one short line, such as `hits=12 misses=3 evictions=0`.
///
/// The line has a fixed length and is written over in place by one call under a lock, so that processes which end at
/// once all count, and so that counting costs some microseconds whatever the engine. A line that cannot be read counts
/// as zero: the sums tell how a cache is used, and nothing depends on them.
struct FileUsageLedger: UsageLedger {
  /// The length of the line with its line feed, in bytes; the three largest numbers fit.
  private static let lineLength = 96

  /// The path of the file.
  let path: String

  func add(_ counts: UsageCounts) throws(CacheError) {
    guard counts != UsageCounts() else { return }
    try withFile(O_RDWR | O_CREAT | O_CLOEXEC, lock: LOCK_EX) { file throws(CacheError) in
      let line = Array(Self.line(of: Self.read(file) + counts).utf8)
      guard pwrite(file, line, line.count, 0) == line.count else { throw failure("cannot be written") }
    }
  }

  func totals() throws(CacheError) -> UsageCounts {
    guard access(path, F_OK) == 0 else { return UsageCounts() }
    return try withFile(O_RDONLY | O_CLOEXEC, lock: LOCK_SH) { file in Self.read(file) }
  }

  private func withFile<Output>(
    _ flags: Int32, lock: Int32, _ body: (Int32) throws(CacheError) -> Output
  ) throws(CacheError) -> Output {
    let file = open(path, flags, 0o600)
    guard file >= 0 else { throw failure("cannot be opened") }
    defer { close(file) }
    guard flock(file, lock) == 0 else { throw failure("cannot be locked") }
    return try body(file)
  }

  private static func read(_ file: Int32) -> UsageCounts {
    var bytes = [UInt8](repeating: 0, count: lineLength)
    let count = pread(file, &bytes, bytes.count, 0)
    let words = String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self).split(separator: " ")
    let numbers = words.compactMap { word in word.split(separator: "=").last.flatMap { Int($0) } }
    guard numbers.count >= 3 else { return UsageCounts() }
    return UsageCounts(hits: numbers[0], misses: numbers[1], evictions: numbers[2])
  }

  private static func line(of counts: UsageCounts) -> String {
    let text = "hits=\(counts.hits) misses=\(counts.misses) evictions=\(counts.evictions) "
    return text + String(repeating: " ", count: lineLength - 1 - text.utf8.count) + "\n"
  }

  private func failure(_ what: String) -> CacheError {
    CacheError(
      CacheError.Code(rawValue: "ioFailed"), "\(path) \(what): \(String(cString: strerror(errno)))",
      hint: "check its permissions and the free space")
  }
}
