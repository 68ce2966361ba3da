internal import FetchVocabulary
internal import Platform
internal import ResponseStorage

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
        return try replace(nil, try AccessFile.formerRecords(descriptor, file) ?? [], adding: records)
      }
      let needed = min(Self.blocks(for: table.count + records.count), maximumBlocks)
      guard needed <= table.blocks else { return try replace(table, [], adding: records) }
      try table.add(records)
    }
  }

  func histories(of digests: [UInt64]) throws(CacheError) -> [AccessHistory] {
    guard !digests.isEmpty, file.exists else { return digests.map { _ in AccessHistory() } }
    return try file.read { descriptor throws(CacheError) in
      if let table = try AccessFile(descriptor, file) { return try table.histories(of: digests) }
      var former = AccessTable()
      for record in try AccessFile.formerRecords(descriptor, file) ?? [] { former.add(record) }
      return digests.map { former.history(of: $0) ?? AccessHistory() }
    }
  }

  /// Replaces the file, whose lock is held, by a larger one with what is in `table`, the `former` records, and more.
  private func replace(
    _ table: AccessFile?, _ former: [AccessRecord], adding records: [AccessRecord]
  ) throws(CacheError) {
    let count = (table?.count ?? 0) + former.count + records.count
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
      try larger.add(former)
      try larger.add(records)
      guard rename(new.path, file.path) == 0 else { throw new.failure("cannot be written") }
    } catch {
      unlink(new.path)
      throw error
    }
  }
}
