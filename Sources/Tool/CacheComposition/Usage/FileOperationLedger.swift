internal import FetchVocabulary
internal import Platform
internal import ResponseStorage

/// Keeps the sums in a file of one short line, such as `hits=12 misses=3 evictions=0`.
///
/// The line has a fixed length, and one call under a lock overwrites it in place: processes that end at the same time
/// all count, and counting takes some microseconds with any engine. An unreadable line counts as zero: the sums only
/// describe how a cache is used. A file of that name with other content is not changed.
struct FileOperationLedger: OperationLedger {
  /// The length of the line with its line feed, in bytes; enough for the three largest numbers.
  private static let lineLength = 96

  /// The file.
  let file: UsageFile

  func add(_ counts: OperationCounts) throws(CacheError) {
    guard counts != OperationCounts() else { return }
    try file.change { descriptor throws(CacheError) in
      try file.requireOwn(descriptor, beginning: "hits")
      let line = Array(Self.line(of: try read(descriptor) + counts).utf8)
      guard pwrite(descriptor, line, line.count, 0) == line.count else { throw file.failure("cannot be written") }
    }
  }

  func totals() throws(CacheError) -> OperationCounts {
    guard file.exists else { return OperationCounts() }
    return try file.read { descriptor throws(CacheError) in try read(descriptor) }
  }

  private func read(_ descriptor: Int32) throws(CacheError) -> OperationCounts {
    var bytes = [UInt8](repeating: 0, count: Self.lineLength)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    guard count >= 0 else { throw file.failure("cannot be read") }
    return Self.counts(in: String(decoding: bytes.prefix(count), as: UTF8.self)) ?? OperationCounts()
  }

  /// The counts in `line`; `nil` if one is missing or malformed.
  private static func counts(in line: String) -> OperationCounts? {
    // By bytes: each command that uses a store comes here, and characters take ten times as long.
    let words = line.utf8.split { $0 <= UInt8(ascii: " ") }.map(Substring.init)
    func number(_ name: String) -> Int? {
      let word = words.last { $0.hasPrefix("\(name)=") }
      return word.flatMap { Int($0.dropFirst(name.utf8.count + 1)) }.flatMap { $0 >= 0 ? $0 : nil }
    }
    guard let hits = number("hits"), let misses = number("misses"), let evictions = number("evictions") else {
      return nil
    }
    return OperationCounts(hits: hits, misses: misses, evictions: evictions)
  }

  private static func line(of counts: OperationCounts) -> String {
    let text = "hits=\(counts.hits) misses=\(counts.misses) evictions=\(counts.evictions) "
    return text + String(repeating: " ", count: lineLength - 1 - text.utf8.count) + "\n"
  }
}
