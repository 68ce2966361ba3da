internal import EngineSupport
internal import Platform
internal import StorageSPI

/// The data file of a store, read without LMDB, which trusts the file that it maps.
final class LMDBDataFile {
  private let path: String
  private let descriptor: Int32
  private var status = stat()

  /// Opens the data file in `directory`; `nil` if there is none.
  ///
  /// - Throws: `CacheError`: `damaged` if the name belongs to something that is not a file.
  init?(in directory: String) throws(CacheError) {
    // Non-blocking, because opening a named pipe in the file's place would wait forever.
    path = LMDBFile.data(in: directory)
    descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw .lmdb(errno, "read", path: directory)
    }
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw .lmdb(ENODEV, "read", path: directory)
    }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  var identity: LMDBFileIdentity { LMDBFileIdentity(status) }

  /// Whether there is a store in `directory`, damaged or not. Changes nothing.
  ///
  /// - Throws: `CacheError`: `cannotCreate` if what is there belongs to someone else, `permissionDenied`, `ioFailed`.
  static func isStore(_ directory: String) throws(CacheError) -> Bool {
    try StoreMark.isStore(inFolder: directory) { names throws(CacheError) in
      // The lock file stays when a store is removed.
      if names == ["lock.mdb"] { return LMDBFile.isLockFile(in: directory) ? .nothing : .others }
      guard names.contains("data.mdb") else { return .others }
      do throws(CacheError) {
        guard let file = try LMDBDataFile(in: directory) else { return .nothing }
        // Another process may be writing right now.
        return (0..<8).contains { _ in file.format != nil } ? .store : .others
      } catch {
        // Something that is not a file has the name of the data file.
        guard error.code == .damaged else { throw error }
        return .others
      }
    }
  }

  /// Checks what LMDB trusts when it maps the file: the two meta pages and the length.
  ///
  /// - Returns: whether the file has the mark of a store.
  /// - Throws: `CacheError`: `damaged`, `unsupportedFormat` if it is of a later version.
  @discardableResult
  func check() throws(CacheError) -> Bool {
    do throws(LMDBFault) {
      // Another process may be writing a meta page right now, so a fault counts only if it persists.
      var latest: LMDBMetaPage?
      for _ in 0..<8 where latest == nil { latest = try? latestMetaPage() }
      if latest == nil, let version = laterVersion { throw .laterVersion(version) }
      if latest == nil { latest = try latestMetaPage() }
      guard let format = latest?.format else { return false }
      guard format == LMDBMetaPage.format else { throw .laterVersion(UInt32(format)) }
      return true
    } catch {
      throw .lmdb(error, in: path)
    }
  }

  /// The meta page of the last transaction, if LMDB can trust both and the length.
  private func latestMetaPage() throws(LMDBFault) -> LMDBMetaPage {
    let first = try LMDBMetaPage(read(0, LMDBMetaPage.size), number: 0)
    let second = try LMDBMetaPage(read(first.pageSize, LMDBMetaPage.size), number: 1)
    // A copy by LMDB's tool has the mark in the page of its only transaction.
    let isMarked = second.format == first.format || min(first.transaction, second.transaction) == 0
    guard second.pageSize == first.pageSize, isMarked else { throw .damaged("its meta pages disagree") }
    let latest = first.transaction < second.transaction ? second : first
    // After the meta pages: another process may extend the file meanwhile.
    fstat(descriptor, &status)
    let pages = Int(status.st_size) / latest.pageSize
    guard [latest.mainRoot, latest.freeListRoot].allSatisfy({ $0 == LMDBMetaPage.noRoot || $0 < pages }) else {
      throw .damaged("it is cut off")
    }
    // The last pages may be missing: LMDB does not write a page that the same transaction has freed again.
    let missing = Int(latest.lastPage) + 1 - pages
    guard missing > 0 else { return latest }
    var room = pages
    guard latest.freeListRoot != LMDBMetaPage.noRoot,
      try freePages(below: latest.freeListRoot, from: pages, latest, &room) == missing
    else { throw .damaged("it is cut off") }
    return latest
  }

  /// The version of LMDB's format, if it is later than this one. Both meta pages must say so, because a single one may
  /// be damaged.
  private var laterVersion: UInt32? {
    let versions = ([0] + LMDBMetaPage.pageSizes).compactMap { LMDBMetaPage.version(of: read($0, LMDBMetaPage.size)) }
    return versions.first.flatMap { first in
      first > LMDBMetaPage.version && versions.dropFirst().contains(first) ? first : nil
    }
  }

  /// The version of the store's format; `nil` if it is unknown. Any readable meta page says it.
  var format: Int? {
    let first = try? LMDBMetaPage(read(0, LMDBMetaPage.size), number: 0)
    let others = LMDBMetaPage.pageSizes.lazy.compactMap { size in
      try? LMDBMetaPage(self.read(size, LMDBMetaPage.size), number: 1)
    }
    return first?.format ?? others.first?.format
  }

  /// Up to `count` bytes, from `offset` on.
  private func read(_ offset: Int, _ count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { room, found in
      found = max(pread(descriptor, room.baseAddress, count, off_t(offset)), 0)
    }
  }

  /// The number of free pages from `first` on, by the list below the page `root`.
  ///
  /// Layout (LMDB 0.9, 64 bits) of a page: number (8 bytes), unused (2), kind (2), the end of the array of offsets and
  /// the end of the free space (2 each), the offsets. A node: the two halves of a size or of a page number (2 each),
  /// flags (2), key size (2), key, value or the number of its first page (8).
  ///
  /// - Parameter room: how many more pages the tree can have.
  private func freePages(
    below root: UInt64, from first: Int, _ meta: LMDBMetaPage, _ room: inout Int
  ) throws(LMDBFault) -> Int {
    room -= 1
    guard room >= 0, root <= meta.lastPage else { throw .damaged("page \(root) is out of place") }
    let page = read(Int(root) * meta.pageSize, meta.pageSize)
    let kind = try page.number(at: 10) as UInt16
    guard try page.number(at: 0) == root, kind == 1 || kind == 2 else {
      throw .damaged("page \(root) is not a page of a tree")
    }
    var count = 0
    for place in stride(from: 16, to: Int(try page.number(at: 12) as UInt16), by: 2) {
      let node = Int(try page.number(at: place) as UInt16)
      let size = Int(try page.number(at: node) as UInt16) | Int(try page.number(at: node + 2) as UInt16) << 16
      let flags: UInt16 = try page.number(at: node + 4)
      if kind == 1 {
        count += try freePages(below: UInt64(size) | UInt64(flags) << 32, from: first, meta, &room)
        continue
      }
      let start = node + 8 + Int(try page.number(at: node + 6) as UInt16)
      var list = Array(page.dropFirst(start).prefix(size))
      if flags & 1 != 0 {
        let number: UInt64 = try page.number(at: start)
        guard number <= meta.lastPage, size <= status.st_size else { throw .damaged("a value is cut off") }
        list = read(Int(number) * meta.pageSize + 16, size)
      }
      guard list.count == size else { throw .damaged("a value is cut off") }
      let ranges = try list.span.withUnsafeBytes { list throws(LMDBFault) in
        try LMDBFreePages.ranges(list, lastPage: Int(meta.lastPage))
      }
      count += ranges.reduce(0) { $0 + $1.clamped(to: first..<Int.max).count }
    }
    return count
  }
}

/// One of the two meta pages at the start of a data file, which say where the trees begin. Transaction N writes page N
/// modulo 2, so that the previous state stays readable.
///
/// Layout (LMDB 0.9, 64 bits, in the machine's byte order), after the 16-byte page header: magic number (4 bytes),
/// version (4), address (8), map size (8), the records of the free list and of the main database (48 each), last page
/// in use (8), transaction (8). A record begins with a number (4 bytes, the page size in that of the free list) and flags
/// (2), and ends with the root (8).
///
/// In the record of the main database the number would be the size of its keys if all had the same. They do not, LMDB never looks
/// at it, and it stays the same with each commit and copy: it is the mark of a store, and the version of its format.
struct LMDBMetaPage {
  /// The version of the store's format; `nil` without the mark of a store.
  let format: Int?
  let pageSize: Int
  let freeListRoot: UInt64
  let mainRoot: UInt64
  let lastPage: UInt64
  let transaction: UInt64

  /// The number with which LMDB begins a meta page, and its lock file.
  static let magic: UInt32 = 0xBEEF_C0DE
  /// The format of LMDB 0.9.
  static let version: UInt32 = 1
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
  /// The kind of a meta page.
  private static let kind: UInt16 = 0x08

  /// Parses and checks the page `number`, whose first bytes are `page`.
  init(_ page: [UInt8], number: UInt64) throws(LMDBFault) {
    guard let version = Self.version(of: page) else { throw .damaged("it is cut off, or no LMDB data file") }
    guard version == Self.version else { throw .damaged("its meta pages are of different versions") }
    let mark: UInt32 = try page.number(at: 88)
    format = mark & ~0xFF == Self.mark ? Int(mark & 0xFF) : nil
    pageSize = Int(try page.number(at: 40) as UInt32)
    freeListRoot = try page.number(at: 80)
    mainRoot = try page.number(at: 128)
    lastPage = try page.number(at: 136)
    transaction = try page.number(at: 144)
    // The flags of the free list also hold the environment's, of which only "without a directory" (0x4000) changes no
    // layout.
    guard try page.number(at: 0) == number, try page.number(at: 10) == Self.kind, Self.pageSizes.contains(pageSize),
      try page.number(at: 44) & ~0x4000 == Self.freeListFlags,
      try page.number(at: 92) == 0 as UInt16, (1..<UInt64(1) << 47).contains(lastPage),
      [freeListRoot, mainRoot].allSatisfy({ $0 == Self.noRoot || $0 > 1 && $0 <= lastPage }),
      transaction & 1 == number || transaction == 0
    else { throw .damaged("meta page \(number) contradicts itself") }
  }

  /// The version in bytes that begin like a meta page.
  static func version(of page: [UInt8]) -> UInt32? {
    guard page.count == size, (try? page.number(at: 16)) == magic else { return nil }
    return try? page.number(at: 20)
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

extension [UInt8] {
  /// The number at `offset`.
  fileprivate func number<Number: FixedWidthInteger & BitwiseCopyable>(at offset: Int) throws(LMDBFault) -> Number {
    guard offset + MemoryLayout<Number>.size <= count else { throw .damaged("it is cut off") }
    return withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: Number.self) }
  }
}
