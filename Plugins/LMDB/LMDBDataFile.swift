internal import EngineAPI
internal import CacheBase

/// The data file of a store, read without LMDB, which trusts the file that it maps.
struct LMDBDataFile {
  private let file: OpenFile
  let identity: FileStatus.Identity

  /// Opens the data file in `directory`; `nil` if there is none.
  ///
  /// - Throws: `CacheError`: `damaged` if the name belongs to something that is not a file.
  init?(in directory: String) throws(CacheError) {
    let path = LMDBFiles(directory).data
    guard let file = try LMDBFiles.system.open(path, O_RDONLY) else { return nil }
    let status = try LMDBFiles.system.status(of: file)
    guard status.isRegular else {
      throw CacheError(.damaged, "\(path) is damaged: it is not a file", hint: "move it away")
    }
    self.file = file
    identity = status.identity
  }

  /// Checks what LMDB trusts when it maps the file: the two meta pages, and that the roots of the trees are in the file.
  /// `LMDBEnvironment` checks the length, because that needs the list of free pages.
  ///
  /// - Returns: whether the file has the mark of a store.
  /// - Throws: `CacheError`: `damaged`, `unsupportedFormat` if it is of a later version.
  @discardableResult
  func check() throws(CacheError) -> Bool {
    // Another process might be writing a meta page right now, so a fault counts only if it persists.
    for _ in 0..<8 {
      guard let latest = latestMetaPage() else { continue }
      guard let format = latest.format else { return false }
      guard format == LMDBMetaPage.format else {
        throw CacheError(
          .unsupportedFormat, "\(file.path) is of format version \(format), which this version does not read",
          hint: "use a newer version")
      }
      return true
    }
    throw .damagedLMDB(file.path, "it is cut off, or its first pages are not those of an LMDB data file")
  }

  /// The version of the store's format; `nil` if it is unknown. Any readable meta page says it.
  var format: Int? {
    let pages = metaPages()
    return pages.first?.format ?? pages.second?.format
  }

  /// The meta page of the last transaction; `nil` if LMDB cannot trust both.
  private func latestMetaPage() -> LMDBMetaPage? {
    guard case (let first?, let second?) = metaPages() else { return nil }
    // A copy by LMDB's tool has the mark in the page of its only transaction.
    let isMarked = second.format == first.format || min(first.transaction, second.transaction) == 0
    guard second.pageSize == first.pageSize, isMarked else { return nil }
    let latest = first.transaction < second.transaction ? second : first
    // After the meta pages: another process can extend the file meanwhile.
    guard let size = try? LMDBFiles.system.status(of: file).size else { return nil }
    let pages = UInt64(size / latest.pageSize)
    return latest.roots.allSatisfy { $0 == LMDBMetaPage.noRoot || $0 < pages } ? latest : nil
  }

  /// The two meta pages; `nil` for one that contradicts itself. The first one says where the second one begins.
  private func metaPages() -> (first: LMDBMetaPage?, second: LMDBMetaPage?) {
    let first = LMDBMetaPage(read(at: 0), number: 0)
    let sizes = first.map { [$0.pageSize] } ?? LMDBMetaPage.pageSizes
    return (first, sizes.lazy.compactMap { LMDBMetaPage(self.read(at: $0), number: 1) }.first)
  }

  /// As many bytes from `offset` on as a meta page has, or fewer.
  private func read(at offset: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: LMDBMetaPage.size) { room, count in
      count = max(pread(file.descriptor, room.baseAddress, LMDBMetaPage.size, off_t(offset)), 0)
    }
  }
}

/// One of the two meta pages at the start of a data file, which say where the trees begin. Transaction N writes page N
/// modulo 2, so that the previous state stays readable.
///
/// Layout (LMDB 0.9, 64 bits), after the 16-byte page header: magic number (4 bytes), version (4), address (8), map size (8),
/// the records of the free list and of the main database (48 each), last page in use (8), transaction (8). A record begins
/// with a number (4 bytes, the page size in that of the free list) and flags (2), and ends with the root (8).
///
/// In the record of the main database the number would be the size of its keys if all had the same. They do not, LMDB never looks
/// at it, and it stays the same with each commit and copy: it is the mark of a store, and the version of its format.
struct LMDBMetaPage {
  /// The version of the store's format; `nil` without the mark of a store.
  let format: Int?
  let pageSize: Int
  /// The roots of the trees of free pages and of databases.
  let roots: [UInt64]
  let transaction: UInt64

  /// The number with which LMDB begins a meta page, and its lock file.
  static let magic: UInt32 = 0xBEEF_C0DE
  /// The format of LMDB 0.9.
  private static let version: UInt32 = 1
  /// The root of a tree without pages.
  static let noRoot = UInt64.max
  /// The format version that this engine writes and reads.
  static let format = 1
  /// "cac", after a byte for the version.
  private static let mark: UInt32 = 0x6361_6300
  static let size = 152
  static let pageSizes = (9...16).map { 1 << $0 }
  /// The free list has integer keys.
  private static let freeListFlags: UInt16 = 0x08
  private static let kind: UInt16 = 0x08

  /// Parses and checks the page `number`, whose first bytes are `page`; `nil` if it contradicts itself.
  init?(_ page: [UInt8], number: UInt64) {
    guard page.count == Self.size else { return nil }
    func field<Number: FixedWidthInteger & BitwiseCopyable>(_ offset: Int) -> Number {
      page.withUnsafeBytes { $0.number(at: offset, as: Number.self) }
    }
    let mark: UInt32 = field(88)
    let lastPage: UInt64 = field(136)
    format = mark & ~0xFF == Self.mark ? Int(mark & 0xFF) : nil
    pageSize = Int(field(40) as UInt32)
    roots = [field(80), field(128)]
    transaction = field(144)
    // The flags of the free list also hold the environment's, of which only "without a directory" (0x4000) changes no
    // layout.
    guard field(0) == number, field(10) == Self.kind, field(16) == Self.magic, field(20) == Self.version,
      Self.pageSizes.contains(pageSize), field(44) & ~0x4000 == Self.freeListFlags, field(92) == 0 as UInt16,
      (1..<UInt64(1) << 47).contains(lastPage),
      roots.allSatisfy({ $0 == Self.noRoot || $0 > 1 && $0 <= lastPage }),
      transaction & 1 == number || transaction == 0
    else { return nil }
  }

  /// The content of the data file of an empty store.
  static func emptyFile(pageSize: Int, mapSize: Int) -> [UInt8] {
    var file = [UInt8](repeating: 0, count: 2 * pageSize)
    file.withUnsafeMutableBytes { file in
      for number in 0..<2 {
        let page = UnsafeMutableRawBufferPointer(rebasing: file[(number * pageSize)...])
        page.store(UInt64(number), at: 0)
        page.store(kind, at: 10)
        page.store(magic, at: 16)
        page.store(version, at: 20)
        page.store(mapSize, at: 32)
        page.store(UInt32(pageSize), at: 40)
        page.store(freeListFlags, at: 44)
        page.store(noRoot, at: 80)
        page.store(mark | UInt32(format), at: 88)
        page.store(noRoot, at: 128)
        page.store(1, at: 136)
      }
    }
    return file
  }
}
