internal import Glibc
internal import ResponseStorage

/// A file of uses, mapped into memory as it was when it was opened.
///
/// It is `@unchecked Sendable` because the memory is only read: what is in the file already is never written over but
/// where a record at its end is torn, and a record that changes while it is read fails its check.
final class UseFileContent: @unchecked Sendable {
  /// The first bytes of the file, with the version of its format.
  private static let name: UInt64 = 0x3173_6573_7568_6163
  /// The size of what comes before the records: the name and the number of sorted records, as a record.
  private static let headSize = UseRecord.size

  private let bytes: UnsafeRawBufferPointer
  private let file: (device: dev_t, number: ino_t)
  /// Whether the file has a head that can be read. Where it has none, it holds nothing.
  let isWhole: Bool
  /// The places of the sorted records.
  let sorted: Range<Int>
  /// The places of the others.
  let appended: Range<Int>

  /// The content of the open file `descriptor`; `nil` where it cannot be read, for the reason in `errno`.
  init?(_ descriptor: Int32) {
    guard let status = UsageFile.status(of: descriptor) else { return nil }
    let size = Int(status.st_size)
    var bytes = UnsafeRawBufferPointer(start: nil, count: 0)
    if size > 0 {
      guard let start = mmap(nil, size, PROT_READ, MAP_SHARED, descriptor, 0), start != MAP_FAILED else { return nil }
      bytes = UnsafeRawBufferPointer(start: start, count: size)
    }
    let head = UseRecord(bytes)
    isWhole = head?.digest == Self.name
    let count = isWhole ? (size - Self.headSize) / UseRecord.size : 0
    let sortedCount = min(count, Int(head?.use.count ?? 0))
    (self.bytes, file) = (bytes, (status.st_dev, status.st_ino))
    (sorted, appended) = (0..<sortedCount, sortedCount..<count)
  }

  deinit {
    if let start = bytes.baseAddress { munmap(UnsafeMutableRawPointer(mutating: start), bytes.count) }
  }

  /// The head of a file with `count` sorted records.
  static func head(count: Int) -> UseRecord { UseRecord(digest: name, use: EntryUse(count: Int64(count))) }

  /// Whether this still is the whole content of the file with the status `status`.
  func isOf(_ status: stat?) -> Bool {
    guard let status else { return false }
    return status.st_dev == file.device && status.st_ino == file.number && Int(status.st_size) == bytes.count
  }

  /// Where the next record goes, in bytes from the start of the file.
  var end: Int { Self.headSize + appended.upperBound * UseRecord.size }

  /// The record at a place; `nil` where it is damaged.
  func record(at place: Int) -> UseRecord? { UseRecord(slice(at: place)) }

  /// The records that are not sorted.
  var appendedTable: UseTable {
    var table = UseTable()
    for place in appended {
      if let record = record(at: place) { table.add(record) }
    }
    return table
  }

  /// The use among the sorted records; `nil` where it is not there. Cost: a binary search.
  func sortedUse(of digest: UInt64) -> EntryUse? {
    var (low, high) = (sorted.lowerBound, sorted.upperBound)
    while low < high {
      let middle = low + (high - low) / 2
      if UseRecord.number(in: slice(at: middle), at: 0) < digest { low = middle + 1 } else { high = middle }
    }
    guard sorted.contains(low), let record = record(at: low), record.digest == digest else { return nil }
    return record.use
  }

  private func slice(at place: Int) -> UnsafeRawBufferPointer {
    let start = Self.headSize + place * UseRecord.size
    return UnsafeRawBufferPointer(rebasing: bytes[start..<start + UseRecord.size])
  }
}
