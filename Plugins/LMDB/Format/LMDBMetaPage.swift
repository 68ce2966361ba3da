/// One of the two meta pages at the start of an LMDB data file, which say where the trees begin. Transaction N writes
/// page N modulo 2, so that the previous state stays readable.
///
/// Layout (LMDB 0.9, 64 bits, in the machine's byte order), after the 16-byte page header: magic number (4 bytes),
/// version (4), address (8), map size (8), the records of the free list and of the main database (48 each), last page
/// in use (8), transaction (8).
struct LMDBMetaPage {
  let pageSize: Int
  /// The size of the writer's map, in bytes.
  private let mapSize: UInt64
  let freeList: LMDBTreeRecord
  let main: LMDBTreeRecord
  let lastPage: UInt64
  let transaction: UInt64

  private static let size = 152
  static let (freeListOffset, mainOffset, transactionOffset) = (40, 88, 144)

  /// Both meta pages, checked as far as possible without looking at the trees.
  static func both(in file: UnsafeRawBufferPointer) throws(LMDBFault) -> [LMDBMetaPage] {
    if let version = laterVersion(in: file) { throw .laterVersion(version) }
    let first = try stable(in: file, at: 0, number: 0)
    let second = try stable(in: file, at: first.pageSize, number: 1)
    guard second.pageSize == first.pageSize else { throw .damaged("its meta pages differ in page size") }
    return [first, second]
  }

  /// Fails if the transactions of the meta pages are not consecutive. Then either one of the two numbers is damaged,
  /// and LMDB may mistake the older state for the later one; or one page did not reach the disk before a power loss,
  /// and the other state is sound. A writer may be active between the two looks.
  static func requireConsecutive(in file: UnsafeRawBufferPointer) throws(LMDBFault) {
    for _ in 0..<8 {
      let numbers = try both(in: file).map(\.transaction).sorted()
      if numbers[0] &+ 1 == numbers[1] || numbers == [0, 0] { return }
    }
    throw .damaged(
      "its two meta pages do not follow on each other; the store can be used, but the last changes before that may be "
        + "missing: a loss of power with the durability relaxed leaves this, and the next change puts it right")
  }

  /// The version of LMDB's format, if it is later than this one. Both meta pages must say so, because a single one may
  /// be damaged.
  static func laterVersion(in file: UnsafeRawBufferPointer) -> UInt32? {
    guard let version = version(in: file, at: 0), version > Self.version else { return nil }
    return (9...16).contains { self.version(in: file, at: 1 << $0) == version } ? version : nil
  }

  /// The version in bytes that start like a meta page.
  private static func version(in file: UnsafeRawBufferPointer, at offset: Int) -> UInt32? {
    guard file.count >= offset + size, file.loadUnaligned(fromByteOffset: offset + 16, as: UInt32.self) == magic else {
      return nil
    }
    return file.loadUnaligned(fromByteOffset: offset + 20, as: UInt32.self)
  }

  private static let magic: UInt32 = 0xBEEF_C0DE
  private static let version: UInt32 = 1

  /// The readable ones of the two meta pages, the later one first. Only for a file that no process is writing to.
  static func readable(in file: UnsafeRawBufferPointer) -> [LMDBMetaPage] {
    let first = try? LMDBMetaPage(file, at: 0, number: 0)
    let sizes = first.map { [$0.pageSize] } ?? (9...16).map { 1 << $0 }
    let second = sizes.lazy.compactMap { size in
      (try? LMDBMetaPage(file, at: size, number: 1)).flatMap { $0.pageSize == size ? $0 : nil }
    }.first
    return [first, second].compactMap(\.self).sorted { $0.transaction > $1.transaction }
  }

  /// Another process may be writing a meta page right now, so a fault counts only if it persists.
  private static func stable(
    in file: UnsafeRawBufferPointer, at offset: Int, number: UInt64
  ) throws(LMDBFault) -> LMDBMetaPage {
    for _ in 0..<8 { if let page = try? LMDBMetaPage(file, at: offset, number: number) { return page } }
    return try LMDBMetaPage(file, at: offset, number: number)
  }

  private init(_ file: UnsafeRawBufferPointer, at offset: Int, number: UInt64) throws(LMDBFault) {
    guard file.count >= offset + Self.size else { throw .damaged("it is cut off, or no LMDB data file") }
    let page = [UInt8](UnsafeRawBufferPointer(rebasing: file[offset..<offset + Self.size]))
    self = try page.span.withUnsafeBytes { page throws(LMDBFault) in try LMDBMetaPage(page, number: number) }
    guard file.count >= (Int(number) + 1) * pageSize else { throw .damaged("it is cut off") }
    // The last pages may legitimately be missing, if a transaction allocated pages and returned them unwritten: a
    // single value may have been as large as the map.
    guard lastPage < max(mapSize / UInt64(pageSize), UInt64(file.count / pageSize) + 131_072) else {
      throw .damaged("it is cut off")
    }
  }

  private init(_ page: UnsafeRawBufferPointer, number: UInt64) throws(LMDBFault) {
    guard let version = Self.version(in: page, at: 0) else { throw .damaged("it is no LMDB data file") }
    guard version == Self.version else { throw .damaged("its meta pages are of different versions") }
    guard page.loadUnaligned(fromByteOffset: 0, as: UInt64.self) == number,
      page.loadUnaligned(fromByteOffset: 10, as: UInt16.self) == LMDBPage.Kind.meta
    else { throw .damaged("meta page \(number) is not one") }
    pageSize = Int(page.loadUnaligned(fromByteOffset: 40, as: UInt32.self))
    mapSize = page.loadUnaligned(fromByteOffset: 32, as: UInt64.self)
    freeList = LMDBTreeRecord(page, at: Self.freeListOffset)
    main = LMDBTreeRecord(page, at: Self.mainOffset)
    lastPage = page.loadUnaligned(fromByteOffset: 136, as: UInt64.self)
    transaction = page.loadUnaligned(fromByteOffset: Self.transactionOffset, as: UInt64.self)
    guard (512...65_536).contains(pageSize), pageSize.nonzeroBitCount == 1 else { throw .damaged("its page size") }
    // The free list's flags also hold the environment's flags, of which only "without a folder" (0x4000) changes no
    // layout.
    guard freeList.flags & ~0x4000 == LMDBTreeRecord.integerKeys, main.flags == 0, main.pad == 0, lastPage >= 1,
      transaction & 1 == number || transaction == 0
    else { throw .damaged("meta page \(number) contradicts itself") }
  }
}

/// LMDB's record of a tree: 48 bytes in a meta page, or as the value of a named database in the main one.
struct LMDBTreeRecord {
  static let size = 48
  static let integerKeys: UInt16 = 0x08
  static let noRoot = UInt64.max

  let pad: UInt32
  let flags: UInt16
  let depth: Int
  let branchPages: UInt64
  let leafPages: UInt64
  let overflowPages: UInt64
  let entries: UInt64
  let root: UInt64

  /// How many pages a check of the tree looks at: only the first one of a value that has pages of its own.
  var pagesToCheck: UInt64 {
    [leafPages, min(entries, overflowPages)].reduce(branchPages) { sum, pages in
      let (sum, overflow) = sum.addingReportingOverflow(pages)
      return overflow ? .max : sum
    }
  }

  init(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
    pad = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
    flags = bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt16.self)
    depth = Int(bytes.loadUnaligned(fromByteOffset: offset + 6, as: UInt16.self))
    branchPages = bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self)
    leafPages = bytes.loadUnaligned(fromByteOffset: offset + 16, as: UInt64.self)
    overflowPages = bytes.loadUnaligned(fromByteOffset: offset + 24, as: UInt64.self)
    entries = bytes.loadUnaligned(fromByteOffset: offset + 32, as: UInt64.self)
    root = bytes.loadUnaligned(fromByteOffset: offset + 40, as: UInt64.self)
  }
}
