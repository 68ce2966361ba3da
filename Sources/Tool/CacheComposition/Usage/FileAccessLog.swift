internal import FetchVocabulary
internal import Platform
internal import ResponseStorage
internal import Synchronization

/// Keeps the uses of entries in a file beside the store, 32 bytes per entry.
///
/// A header is followed by a part sorted by the digests of keys, then by a part to which records are appended.
/// Appending is one call under a lock. When the second part exceeds 64 KiB and a quarter of the first, both are merged
/// into a new file that replaces the old one. A torn or damaged record counts as absent.
final class FileAccessLog: AccessLog {
  /// The number of appended bytes below which the file is never merged.
  private static let smallestMerge = 64 << 10

  private let file: UsageFile
  private let capacity: Int
  /// The last content read: the file may be unchanged.
  private let last = Mutex<FileAccessSnapshot?>(nil)

  /// The log in `file`, which keeps the uses of about `capacity` entries (1 or more), the most recent ones.
  init(_ file: UsageFile, capacity: Int) {
    self.file = file
    self.capacity = capacity
  }

  func add(_ records: [AccessRecord]) throws(CacheError) {
    guard !records.isEmpty else { return }
    try file.change { descriptor throws(CacheError) in
      let head = try content(of: descriptor, withRecords: false)
      guard head.isWhole, !isMergeDue(head, adding: records.count) else {
        return try merge(try content(of: descriptor), records)
      }
      var bytes: [UInt8] = []
      bytes.reserveCapacity(records.count * AccessRecord.size)
      for record in records { record.append(to: &bytes) }
      // A torn record at the end is overwritten.
      guard pwrite(descriptor, bytes, bytes.count, off_t(head.end)) == bytes.count else {
        throw file.failure("cannot be written")
      }
    }
  }

  func snapshot() throws(CacheError) -> any AccessSnapshot {
    guard file.exists else { return AccessTable() }
    return try file.read { descriptor throws(CacheError) in
      let status = UsageFile.status(of: descriptor)
      if let known = last.withLock({ $0 }), known.content.isOf(status) { return known }
      let snapshot = FileAccessSnapshot(try content(of: descriptor))
      last.withLock { $0 = snapshot }
      return snapshot
    }
  }

  private func content(of descriptor: Int32, withRecords: Bool = true) throws(CacheError) -> AccessFileContent {
    guard let content = AccessFileContent(descriptor, withRecords: withRecords) else {
      throw file.failure("cannot be read")
    }
    return content
  }

  private func isMergeDue(_ content: AccessFileContent, adding count: Int) -> Bool {
    let appended = (content.appended.count + count) * AccessRecord.size
    return appended > max(Self.smallestMerge, content.sorted.count * AccessRecord.size / 4)
  }

  /// Replaces the file, whose lock is held, by a new one.
  private func merge(_ content: AccessFileContent, _ records: [AccessRecord]) throws(CacheError) {
    var table = content.appendedTable
    for record in records { table.add(record) }
    let merger = AccessMerger(content: content, table: table, capacity: capacity)
    let new = UsageFile(path: file.path + ".new")
    let descriptor = open(new.path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw new.failure("cannot be made") }
    defer { close(descriptor) }
    guard merger.write(to: descriptor), rename(new.path, file.path) == 0 else {
      let failure = new.failure("cannot be written")
      unlink(new.path)
      throw failure
    }
  }
}

/// The uses in a file at one moment.
final class FileAccessSnapshot: AccessSnapshot {
  let content: AccessFileContent
  private let appended: AccessTable

  init(_ content: AccessFileContent) {
    self.content = content
    appended = content.appendedTable
  }

  func history(of digest: UInt64) -> AccessHistory? {
    guard let old = content.sortedHistory(of: digest) else { return appended.history(of: digest) }
    return appended.history(of: digest).map { old + $0 } ?? old
  }
}
