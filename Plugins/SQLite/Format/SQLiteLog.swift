internal import StorageSPI

/// Locates the committed pages in a log just as SQLite does after a crash: up to the first frame that is damaged or not
/// of this log, and then back to the last commit. See "WAL-mode File Format" in SQLite's documentation.
struct SQLiteLog {
  /// The offset in the log of each page's newest version.
  private(set) var offsets: [Int: Int] = [:]
  /// The number of pages of the database after the last commit; 0 if there was none.
  private(set) var pageCount = 0
  /// The page size; 0 if the log cannot be read.
  private(set) var pageSize = 0
  /// The number of frames up to the last usable commit.
  private(set) var usedFrames = 0
  /// The salts that mark frames of this log; `nil` if its header cannot be read.
  private(set) var salts: Int?
  /// Whether the unused part of the log is damaged, or may be the end of a transaction that was cut off.
  private(set) var isDamaged = false
  /// Whether a commit of this log lies behind the damage, which the crash of a writing process never leaves.
  private(set) var hasCommitBehindDamage = false

  private static let headerSize = 32
  private static let frameHeaderSize = 24

  /// The log in the file at `path`; empty if there is none.
  ///
  /// - Throws: `CacheError` if the log cannot be read. Treating a read error as the end of the log would lose the
  ///   commits behind it.
  init(_ path: String) throws(CacheError) {
    guard SQLiteFiles.size(of: path) > 0, let file = try SQLitePlainFile(path) else { return }
    guard let bytes = try file.bytes(at: 0, Self.headerSize), let header = Header(SQLiteBytes(bytes)) else {
      isDamaged = true
      hasCommitBehindDamage = SQLiteFiles.size(of: path) > Self.headerSize
      return
    }
    (pageSize, salts) = (header.pageSize, header.salts)
    let end = try readFrames(of: file, header)
    hasCommitBehindDamage = try hasCommit(in: file, behind: end, header)
    // Damaged salts may look like the salts of an older log.
    if hasCommitBehindDamage { isDamaged = true }
  }

  /// Whether a frame behind the one at `offset` ends a transaction of this log. The frame itself may be an unfinished
  /// write.
  private func hasCommit(
    in file: borrowing SQLitePlainFile, behind offset: Int, _ header: Header
  ) throws(CacheError) -> Bool {
    var offset = offset + Self.frameHeaderSize + pageSize
    while let bytes = try file.bytes(at: offset, Self.frameHeaderSize) {
      let frame = SQLiteBytes(bytes)
      if frame.number(at: 8, 8) == header.salts, frame.number(at: 4, 4) ?? 0 > 0 { return true }
      offset += Self.frameHeaderSize + pageSize
    }
    return false
  }

  /// Reads the frames, and returns where the sound ones end.
  private mutating func readFrames(
    of file: borrowing SQLitePlainFile, _ header: Header
  ) throws(CacheError) -> Int {
    var (offset, sum, pending) = (Self.headerSize, header.sum, [Int: Int]())
    while let bytes = try file.bytes(at: offset, Self.frameHeaderSize + pageSize) {
      let frame = SQLiteBytes(bytes)
      guard frame.number(at: 8, 8) == header.salts, let page = frame.number(at: 0, 4),
        let size = frame.number(at: 4, 4)
      else {
        // Behind the end of the log lie the remains of an older one.
        isDamaged = !header.follows(frame.number(at: 8, 4))
        break
      }
      sum.add(bytes[..<8])
      sum.add(bytes[Self.frameHeaderSize...])
      guard frame.number(at: 16, 8) == sum.value else {
        isDamaged = true
        break
      }
      pending[page] = offset + Self.frameHeaderSize
      offset += bytes.count
      if size > 0 {
        commit(&pending, pageCount: size)
        usedFrames = (offset - Self.headerSize) / bytes.count
      }
    }
    let hasWholeFrame = try file.bytes(at: offset, Self.frameHeaderSize + pageSize) != nil
    let hasMore = try file.bytes(at: offset, 1) != nil
    if !pending.isEmpty || (hasMore && !hasWholeFrame) { isDamaged = true }
    return offset
  }

  private mutating func commit(_ pending: inout [Int: Int], pageCount: Int) {
    offsets.merge(pending) { $1 }
    self.pageCount = pageCount
    pending = [:]
  }

  private struct Header {
    let pageSize: Int
    let salts: Int
    let sum: Sum
    /// How many logs the file has held before.
    private let sequence: Int

    init?(_ header: SQLiteBytes) {
      guard let magic = header.number(at: 0, 4), magic & ~1 == 0x377F_0682, let pageSize = header.number(at: 8, 4),
        SQLitePages.isPageSize(pageSize), let sequence = header.number(at: 12, 4), let salts = header.number(at: 16, 8)
      else { return nil }
      var sum = Sum(isBigEndian: magic & 1 == 1)
      sum.add(header.bytes[..<24])
      guard header.number(at: 24, 8) == sum.value else { return nil }
      (self.pageSize, self.salts, self.sum, self.sequence) = (pageSize, salts, sum, sequence)
    }

    /// Whether the file held a log with the first salt `salt` before: each new log adds one to it.
    func follows(_ salt: Int?) -> Bool {
      guard let salt else { return false }
      let distance = UInt32(truncatingIfNeeded: salts >> 32) &- UInt32(truncatingIfNeeded: salt)
      return (1...max(1, sequence)).contains(Int(distance)) && sequence > 0
    }
  }

  /// The checksum of a log, over 32-bit words.
  private struct Sum {
    let isBigEndian: Bool
    private var (first, second): (UInt32, UInt32) = (0, 0)

    init(isBigEndian: Bool) { self.isBigEndian = isBigEndian }

    var value: Int { Int(truncatingIfNeeded: UInt64(first) << 32 | UInt64(second)) }

    mutating func add(_ bytes: ArraySlice<UInt8>) {
      var index = bytes.startIndex
      while index + 8 <= bytes.endIndex {
        first &+= word(bytes, index) &+ second
        second &+= word(bytes, index + 4) &+ first
        index += 8
      }
    }

    private func word(_ bytes: ArraySlice<UInt8>, _ index: Int) -> UInt32 {
      let word =
        UInt32(bytes[index]) | UInt32(bytes[index + 1]) << 8 | UInt32(bytes[index + 2]) << 16
        | UInt32(bytes[index + 3]) << 24
      return isBigEndian ? word.byteSwapped : word
    }
  }
}
