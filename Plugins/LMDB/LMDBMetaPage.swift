/// One of the two meta pages at the beginning of an LMDB data file: where the trees begin. Transaction N writes page
/// N modulo 2, so that the state before it stays readable.
///
/// Layout (LMDB 0.9, 64 bits, in the byte order of the machine), after the page's header of 16 bytes: magic number (4
/// bytes), version (4), address (8), size of the map (8), the records of the free list and of the main database (48
/// each), last page in use (8), transaction (8).
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

  /// Both meta pages, checked as far as that is possible without looking at the trees.
  static func both(in file: UnsafeRawBufferPointer) throws(LMDBFault) -> [LMDBMetaPage] {
    if let version = laterVersion(in: file) { throw .laterVersion(version) }
    let first = try stable(in: file, at: 0, number: 0)
    let second = try stable(in: file, at: first.pageSize, number: 1)
    guard second.pageSize == first.pageSize else { throw .damaged("its meta pages differ in page size") }
    return [first, second]
  }

  /// Fails where the transactions of the meta pages do not follow on each other: one of the two numbers is damaged, and
  /// LMDB may take the older state for the later one; or one page did not reach the disk before a loss of power, and
  /// nothing is wrong with the other state. A writer may be at work between the two looks.
  static func requireConsecutive(in file: UnsafeRawBufferPointer) throws(LMDBFault) {
    for _ in 0..<8 {
      let numbers = try both(in: file).map(\.transaction).sorted()
      if numbers[0] &+ 1 == numbers[1] || numbers == [0, 0] { return }
    }
    throw .damaged(
      "its two meta pages do not follow on each other; the store can be used, but the last changes before that may be "
        + "missing: a loss of power with the durability relaxed leaves this, and the next change puts it right")
  }

  /// The version of LMDB's format, where it is a later one than this: both meta pages say so, because a single one may be
  /// damaged.
  static func laterVersion(in file: UnsafeRawBufferPointer) -> UInt32? {
    guard let version = version(in: file, at: 0), version > Self.version else { return nil }
    return (9...16).contains { self.version(in: file, at: 1 << $0) == version } ? version : nil
  }

  /// The version in what begins as a meta page does.
  private static func version(in file: UnsafeRawBufferPointer, at offset: Int) -> UInt32? {
    guard file.count >= offset + size, file.loadUnaligned(fromByteOffset: offset + 16, as: UInt32.self) == magic else {
      return nil
    }
    return file.loadUnaligned(fromByteOffset: offset + 20, as: UInt32.self)
  }

  private static let magic: UInt32 = 0xBEEF_C0DE
  private static let version: UInt32 = 1

  /// Those of the two meta pages that can be read, the later one first. For a file that nobody writes to.
  static func readable(in file: UnsafeRawBufferPointer) -> [LMDBMetaPage] {
    let first = try? LMDBMetaPage(file, at: 0, number: 0)
    let sizes = first.map { [$0.pageSize] } ?? (9...16).map { 1 << $0 }
    let second = sizes.lazy.compactMap { size in
      (try? LMDBMetaPage(file, at: size, number: 1)).flatMap { $0.pageSize == size ? $0 : nil }
    }.first
    return [first, second].compactMap(\.self).sorted { $0.transaction > $1.transaction }
  }

  /// A meta page may just be being written by another process: what is wrong is wrong only if it stays so.
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
    // The last pages may be missing legitimately, when a transaction took pages and gave them back unwritten: one value
    // may have been as large as the map.
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
    // The free list's flags also hold those of the environment: only "without a folder" (0x4000) changes no layout.
    guard freeList.flags & ~0x4000 == LMDBTreeRecord.integerKeys, main.flags == 0, main.pad == 0, lastPage >= 1,
      transaction & 1 == number || transaction == 0
    else { throw .damaged("meta page \(number) contradicts itself") }
  }
}

/// What LMDB records of a tree: 48 bytes in a meta page, or as the value of a named database in the main one.
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

  /// How many pages a check of the tree looks at: of a value in pages of its own only the first one.
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
