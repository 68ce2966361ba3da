internal import FetchVocabulary
internal import Platform
internal import CacheCore

/// Keeps the uses of entries in a file beside the store, 32 bytes per entry: see `AccessFile`.
///
/// Adding or finding a use costs the same for ten entries and for a million. When three quarters of the file are full, it
/// is copied into one four times as large, which replaces it, until there is room for `capacity` records. Then a full
/// block forgets the use that is longest ago. A torn or damaged record counts as absent.
struct FileAccessLog: AccessLog {
  private let file: UsageFile
  /// The most blocks that the file has.
  private let maximumBlocks: Int

  /// The log in `file`, which keeps the uses of about `capacity` entries (1 or more), the most recent ones.
  init(_ file: UsageFile, capacity: Int) {
    self.file = file
    maximumBlocks = Self.blocks(for: capacity)
  }

  /// The number of blocks of which `count` records fill three quarters at most.
  private static func blocks(for count: Int) -> Int {
    var blocks = 1
    while blocks * AccessBlock.capacity * 3 / 4 < count { blocks *= 2 }
    return blocks
  }

  func add(_ records: [AccessRecord]) throws(CacheError) {
    guard !records.isEmpty else { return }
    try file.change { descriptor throws(CacheError) in
      guard var table = try AccessFile(descriptor, file) else {
        return try replace(nil, adding: records)
      }
      let needed = min(Self.blocks(for: table.count + records.count), maximumBlocks)
      guard needed <= table.blocks else { return try replace(table, adding: records) }
      try table.add(records)
    }
  }

  func histories(of digests: [UInt64]) throws(CacheError) -> [AccessHistory] {
    guard !digests.isEmpty, file.exists else { return digests.map { _ in AccessHistory() } }
    return try file.read { descriptor throws(CacheError) in
      if let table = try AccessFile(descriptor, file) { return try table.histories(of: digests) }
      return digests.map { _ in AccessHistory() }
    }
  }

  /// Replaces the file, whose lock is held, by a larger one with the records of `table` and `records`.
  private func replace(
    _ table: AccessFile?, adding records: [AccessRecord]
  ) throws(CacheError) {
    let count = (table?.count ?? 0) + records.count
    let blocks = min(max(Self.blocks(for: count), 4 * (table?.blocks ?? 0)), maximumBlocks)
    let new = UsageFile(path: file.path + ".new")
    let descriptor = open(new.path, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw new.failure("cannot be made") }
    defer { close(descriptor) }
    do throws(CacheError) {
      var larger = try AccessFile(making: descriptor, new, blocks: blocks)
      if let table {
        for place in 0..<table.blocks { try larger.add(try table.records(at: place)) }
      }
      try larger.add(records)
      guard rename(new.path, file.path) == 0 else { throw new.failure("cannot be written") }
    } catch {
      unlink(new.path)
      throw error
    }
  }
}

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
