internal import Platform
internal import ResponseStorage

/// The content of a usage file when it was opened: its header and, on request, its records.
///
/// The file is read and not mapped: another program that truncated a mapped file would crash this process (SIGBUS).
final class AccessFileContent: Sendable {
  /// The first bytes of the file, with the version of its format.
  private static let name: UInt64 = 0x3173_6573_7568_6163
  /// The size of the header: the name and the number of sorted records, in the form of a record.
  private static let headSize = AccessRecord.size

  /// The maximum number of bytes to read: more than any file of uses grows to.
  private static let maximumSize = 1 << 30

  /// The header, and the records read.
  private let bytes: [UInt8]
  private let file: (device: dev_t, number: ino_t, size: off_t)
  /// Whether the file has a readable header. Without one it counts as empty.
  let isWhole: Bool
  /// The range of the sorted records.
  let sorted: Range<Int>
  /// The range of the appended records.
  let appended: Range<Int>

  /// The content of the open file `descriptor`; `nil`, with the reason in `errno`, if it cannot be read. Without
  /// records, only `isWhole`, `end` and the ranges are valid.
  init?(_ descriptor: Int32, withRecords: Bool = true) {
    guard let status = UsageFile.status(of: descriptor) else { return nil }
    let size = min(Int(status.st_size), Self.maximumSize)
    guard let bytes = Self.read(descriptor, withRecords ? size : min(size, Self.headSize)) else { return nil }
    let head = bytes.withUnsafeBytes { AccessRecord($0) }
    isWhole = head?.digest == Self.name
    let count = isWhole ? ((withRecords ? bytes.count : size) - Self.headSize) / AccessRecord.size : 0
    let sortedCount = min(count, Int(head?.history.count ?? 0))
    (self.bytes, file) = (bytes, (status.st_dev, status.st_ino, status.st_size))
    (sorted, appended) = (0..<sortedCount, sortedCount..<count)
  }

  /// The first `count` bytes of a file, fewer if it is shorter; `nil` if it cannot be read.
  private static func read(_ descriptor: Int32, _ count: Int) -> [UInt8]? {
    var hasFailed = false
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      while filled < count {
        let piece = pread(descriptor, buffer.baseAddress?.advanced(by: filled), count - filled, off_t(filled))
        if piece < 0, errno == EINTR { continue }
        hasFailed = piece < 0
        guard piece > 0 else { return }
        filled += piece
      }
    }
    return hasFailed ? nil : bytes
  }

  /// The header of a file with `count` sorted records.
  static func head(count: Int) -> AccessRecord {
    AccessRecord(digest: name, history: AccessHistory(count: Int64(count)))
  }

  /// Whether this is still the whole content of the file with the status `status`.
  func isOf(_ status: stat?) -> Bool {
    guard let status else { return false }
    return status.st_dev == file.device && status.st_ino == file.number && status.st_size == file.size
  }

  /// Where the next record goes, in bytes from the start of the file.
  var end: Int { Self.headSize + appended.upperBound * AccessRecord.size }

  /// The record at `place`; `nil` if it is damaged.
  func record(at place: Int) -> AccessRecord? { withRecord(at: place) { AccessRecord($0) } }

  /// The appended records.
  var appendedTable: AccessTable {
    var table = AccessTable()
    for place in appended {
      if let record = record(at: place) { table.add(record) }
    }
    return table
  }

  /// The use in the sorted records; `nil` if there is none. Cost: a binary search.
  func sortedHistory(of digest: UInt64) -> AccessHistory? {
    var (low, high) = (sorted.lowerBound, sorted.upperBound)
    while low < high {
      let middle = low + (high - low) / 2
      let other = withRecord(at: middle) { AccessRecord.number(in: $0, at: 0) }
      if other < digest { low = middle + 1 } else { high = middle }
    }
    guard sorted.contains(low), let record = record(at: low), record.digest == digest else { return nil }
    return record.history
  }

  private func withRecord<Output>(at place: Int, _ body: (UnsafeRawBufferPointer) -> Output) -> Output {
    let start = Self.headSize + place * AccessRecord.size
    return bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[start..<start + AccessRecord.size])) }
  }
}
