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
    if access(path, F_OK) != 0, errno == ENOENT { makeFolder() }
    try withFile(O_RDWR | O_CREAT | O_CLOEXEC, lock: LOCK_EX) { file throws(CacheError) in
      let line = Array(Self.line(of: try read(file) + counts).utf8)
      guard pwrite(file, line, line.count, 0) == line.count else { throw failure("cannot be written") }
    }
  }

  func totals() throws(CacheError) -> UsageCounts {
    if access(path, F_OK) != 0, errno == ENOENT { return UsageCounts() }
    return try withFile(O_RDONLY | O_CLOEXEC, lock: LOCK_SH) { file throws(CacheError) in try read(file) }
  }

  /// Makes the folder of the file with its parents, for the user alone: a store in memory or elsewhere has made none.
  /// What cannot be made shows when the file is opened.
  private func makeFolder() {
    for index in path.indices.dropFirst() where path[index] == "/" { mkdir(String(path[..<index]), 0o700) }
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

  private func read(_ file: Int32) throws(CacheError) -> UsageCounts {
    var bytes = [UInt8](repeating: 0, count: Self.lineLength)
    let count = pread(file, &bytes, bytes.count, 0)
    guard count >= 0 else { throw failure("cannot be read") }
    return Self.counts(in: String(decoding: bytes.prefix(count), as: UTF8.self)) ?? UsageCounts()
  }

  /// The counts that a line tells of; `nil` where one of them is missing or no count.
  private static func counts(in line: String) -> UsageCounts? {
    let words = line.split(whereSeparator: \.isWhitespace)
    func number(_ name: String) -> Int? {
      let word = words.last { $0.hasPrefix("\(name)=") }
      return word.flatMap { Int($0.dropFirst(name.utf8.count + 1)) }.flatMap { $0 >= 0 ? $0 : nil }
    }
    guard let hits = number("hits"), let misses = number("misses"), let evictions = number("evictions") else {
      return nil
    }
    return UsageCounts(hits: hits, misses: misses, evictions: evictions)
  }

  private static func line(of counts: UsageCounts) -> String {
    let text = "hits=\(counts.hits) misses=\(counts.misses) evictions=\(counts.evictions) "
    return text + String(repeating: " ", count: lineLength - 1 - text.utf8.count) + "\n"
  }

  /// The failure that `errno` tells of.
  private func failure(_ what: String) -> CacheError {
    let number = errno
    let isRefusal = [EACCES, EPERM, EROFS].contains(number)
    return CacheError(
      isRefusal ? .permissionDenied : CacheError.Code(rawValue: "ioFailed"),
      "\(path) \(what): \(String(cString: strerror(number)))", hint: "check its permissions and the free space")
  }
}

extension CacheError.Code {
  /// The permissions do not allow it, or the medium may only be read.
  static let permissionDenied = CacheError.Code(rawValue: "permissionDenied")
}
