internal import EngineSupport
internal import Platform
internal import StorageSPI

/// The data file of a store, read without LMDB, which trusts the file that it maps.
final class LMDBDataFile {
  private let descriptor: Int32

  private var length: Int {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
  }

  /// Opens the data file in `folder`; `nil` if there is none.
  ///
  /// - Throws: `CacheError`: `damaged` if the name belongs to something that is not a file.
  init?(in folder: String) throws(CacheError) {
    // Non-blocking, because opening a named pipe in the file's place would wait forever.
    descriptor = open(LMDBFile.data(in: folder), O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw .lmdb(errno, "read", path: folder)
    }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw .lmdb(ENODEV, "read", path: folder)
    }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Checks the data file in `folder` for what LMDB trusts when it maps the file: the two meta pages and the length.
  ///
  /// - Returns: whether there is a data file.
  /// - Throws: `CacheError`: `damaged`, `unsupportedFormat` if it is of a later version of LMDB.
  static func check(in folder: String) throws(CacheError) -> Bool {
    guard let file = try LMDBDataFile(in: folder) else { return false }
    do throws(LMDBFault) { try file.check() } catch { throw .lmdb(error, in: LMDBFile.data(in: folder)) }
    return true
  }

  /// Another process may be writing a meta page right now, so a fault counts only if it persists.
  func check() throws(LMDBFault) {
    for _ in 0..<8 { if (try? checkOnce()) != nil { return } }
    if let version = laterVersion { throw .laterVersion(version) }
    try checkOnce()
  }

  private func checkOnce() throws(LMDBFault) {
    let first = try metaPage(0, at: 0)
    let second = try metaPage(1, at: first.pageSize)
    guard second.pageSize == first.pageSize else { throw .damaged("its meta pages differ in page size") }
    let latest = first.transaction < second.transaction ? second : first
    let pages = UInt64(length / latest.pageSize)
    guard [latest.mainRoot, latest.freeListRoot].allSatisfy({ $0 == LMDBMetaPage.noRoot || $0 < pages }) else {
      throw .damaged("it is cut off")
    }
    // The last pages may be missing: LMDB does not write a page that the same transaction has freed again.
    guard latest.lastPage >= pages else { return }
    guard try freePages(latest, from: pages) == latest.lastPage + 1 - pages else { throw .damaged("it is cut off") }
  }

  private func metaPage(_ number: UInt64, at offset: Int) throws(LMDBFault) -> LMDBMetaPage {
    try LMDBMetaPage(read(offset, LMDBMetaPage.size), number: number)
  }

  /// The version of LMDB's format, if it is later than this one. Both meta pages must say so, because a single one may
  /// be damaged.
  private var laterVersion: UInt32? {
    guard let version = LMDBMetaPage.version(of: read(0, LMDBMetaPage.size)), version > LMDBMetaPage.version else {
      return nil
    }
    let isConfirmed = LMDBMetaPage.pageSizes.contains { size in
      LMDBMetaPage.version(of: read(size, LMDBMetaPage.size)) == version
    }
    return isConfirmed ? version : nil
  }

  /// The states of the readable meta pages, the later one first.
  private var states: [LMDBMetaPage] {
    let first = try? metaPage(0, at: 0)
    let sizes = first.map { [$0.pageSize] } ?? LMDBMetaPage.pageSizes
    let second = sizes.lazy.compactMap { size in
      (try? self.metaPage(1, at: size)).flatMap { $0.pageSize == size ? $0 : nil }
    }
    return [first, second.first].compactMap(\.self).sorted { $0.transaction > $1.transaction }
  }

  /// The version of the store's format; `nil` if it is unknown.
  var format: Int? { states.lazy.compactMap { self.format(in: $0) }.first }

  /// Whether the file is a store: it has a format record, or nothing was ever stored in it. Damage may hide that.
  var isOwn: Bool {
    // Another process may be writing right now.
    (0..<8).contains { _ in states.first?.mainRoot == LMDBMetaPage.noRoot || format != nil }
  }

  /// Throws if the store is of a version that this one does not know.
  func requireKnownFormat(_ folder: String) throws(CacheError) {
    let other = format.flatMap { $0 == LMDBSummary.format ? nil : UInt32($0) }
    if let version = laterVersion ?? other { throw .lmdb(.laterVersion(version), in: folder) }
  }
}

/// The few tree pages that the checks need.
extension LMDBDataFile {
  private struct Node {
    let flags: UInt16
    let key: ArraySlice<UInt8>
    /// The rest of the page after the key.
    let rest: ArraySlice<UInt8>
    let valueSize: Int
    let child: UInt64
  }

  /// LMDB's limit on the depth of a tree.
  private static let maximumDepth = 32

  /// Up to `count` bytes, at least one, from `offset` on.
  private func read(_ offset: Int, _ count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { room, found in
      found = max(pread(descriptor, room.baseAddress, count, off_t(offset)), 0)
    }
  }

  /// The nodes of a tree page: up to `limit` of them.
  ///
  /// Layout (LMDB 0.9, 64 bits) of a page: number (8 bytes), unused (2), kind (2), the end of the array of offsets and
  /// the end of the free space (2 each), the offsets. A node: the two halves of a size or of a page number (2 each),
  /// flags (2), key size (2), key, value.
  private func nodes(
    of number: UInt64, _ pageSize: Int, limit: Int = .max
  ) throws(LMDBFault) -> (isLeaf: Bool, nodes: [Node]) {
    guard number < UInt64(length / pageSize) else { throw .damaged("it is cut off") }
    let page = read(Int(number) * pageSize, pageSize)
    let isPage = page.count == pageSize && page.load(at: 0, as: UInt64.self) == number
    guard isPage, [1, 2].contains(page[10]) else { throw .damaged("page \(number) is not a page of a tree") }
    var nodes: [Node] = []
    let end = min(Int(page.load(at: 12, as: UInt16.self)), pageSize - 1)
    for place in stride(from: 16, to: end, by: 2).prefix(limit) {
      let offset = Int(page.load(at: place, as: UInt16.self))
      guard offset + 8 <= pageSize else { throw .damaged("page \(number) has a node out of place") }
      let start = offset + 8 + Int(page.load(at: offset + 6, as: UInt16.self))
      guard start <= pageSize else { throw .damaged("page \(number) has a node out of place") }
      let low = page.load(at: offset, as: UInt16.self)
      let size = UInt32(low) | UInt32(page.load(at: offset + 2, as: UInt16.self)) << 16
      let flags = page.load(at: offset + 4, as: UInt16.self)
      nodes.append(
        Node(
          flags: flags, key: page[offset + 8..<start], rest: page[start...], valueSize: Int(size),
          child: UInt64(size) | UInt64(flags) << 32))
    }
    return (page[10] == 2, nodes)
  }

  /// The value of a leaf's node, which may be in pages of its own.
  private func value(of node: Node, _ pageSize: Int) throws(LMDBFault) -> [UInt8] {
    guard node.flags & 1 != 0 else {
      guard node.valueSize <= node.rest.count else { throw .damaged("a value is cut off") }
      return Array(node.rest.prefix(node.valueSize))
    }
    guard node.rest.count >= 8, node.valueSize > 0 else { throw .damaged("a value is cut off") }
    let first = Array(node.rest.prefix(8)).load(at: 0, as: UInt64.self)
    guard first < UInt64(length / pageSize), node.valueSize < length else { throw .damaged("a value is cut off") }
    let value = read(Int(first) * pageSize + 16, node.valueSize)
    guard value.count == node.valueSize else { throw .damaged("a value is cut off") }
    return value
  }

  /// The format version of a state: the main database's first record says it. `nil` if there is none that can be read.
  private func format(in state: LMDBMetaPage) -> Int? {
    var number = state.mainRoot
    for _ in 0..<Self.maximumDepth {
      guard let (isLeaf, nodes) = try? self.nodes(of: number, state.pageSize, limit: 1), let node = nodes.first else {
        break
      }
      number = node.child
      guard isLeaf else { continue }
      guard node.key.elementsEqual(LMDBSummary.key) else { break }
      return (try? value(of: node, state.pageSize)).flatMap { $0.withUnsafeBytes { LMDBSummary.format(of: $0) } }
    }
    return nil
  }

  /// The number of free pages from `first` on, by the list of a state.
  private func freePages(_ state: LMDBMetaPage, from first: UInt64) throws(LMDBFault) -> UInt64 {
    var count = 0
    var seen: Set<UInt64> = []
    var open = state.freeListRoot == LMDBMetaPage.noRoot ? [] : [state.freeListRoot]
    while let number = open.popLast() {
      guard seen.insert(number).inserted else { throw .damaged("page \(number) is in use twice") }
      let (isLeaf, nodes) = try self.nodes(of: number, state.pageSize)
      for node in nodes {
        guard isLeaf else {
          open.append(node.child)
          continue
        }
        let list = try value(of: node, state.pageSize)
        count += try list.span.withUnsafeBytes { list throws(LMDBFault) in
          try LMDBFreePages.ranges(list, lastPage: Int(state.lastPage)).reduce(0) { sum, pages in
            sum + pages.clamped(to: Int(first)..<Int.max).count
          }
        }
      }
    }
    return UInt64(count)
  }
}

/// One of the two meta pages at the start of a data file, which say where the trees begin. Transaction N writes page N
/// modulo 2, so that the previous state stays readable.
///
/// Layout (LMDB 0.9, 64 bits, in the machine's byte order), after the 16-byte page header: magic number (4 bytes),
/// version (4), address (8), map size (8), the records of the free list and of the main database (48 each), last page
/// in use (8), transaction (8). A record begins with a number (4 bytes, the page size in that of the free list) and flags
/// (2), and ends with the root (8).
struct LMDBMetaPage {
  let pageSize: Int
  let freeListRoot: UInt64
  let mainRoot: UInt64
  let lastPage: UInt64
  let transaction: UInt64

  /// The root of a tree without pages.
  static let noRoot = UInt64.max
  static let size = 152
  static let transactionOffset = 144
  /// The format of LMDB 0.9.
  static let version: UInt32 = 1
  static let pageSizes = (9...16).map { 1 << $0 }

  /// Parses and checks the page `number`, whose first bytes are `page`.
  init(_ page: [UInt8], number: UInt64) throws(LMDBFault) {
    guard let version = Self.version(of: page) else { throw .damaged("it is cut off, or no LMDB data file") }
    guard version == Self.version else { throw .damaged("its meta pages are of different versions") }
    pageSize = Int(page.load(at: 40, as: UInt32.self))
    freeListRoot = page.load(at: 80, as: UInt64.self)
    mainRoot = page.load(at: 128, as: UInt64.self)
    lastPage = page.load(at: 136, as: UInt64.self)
    transaction = page.load(at: Self.transactionOffset, as: UInt64.self)
    guard page.load(at: 0, as: UInt64.self) == number, page.load(at: 10, as: UInt16.self) == 8 else {
      throw .damaged("meta page \(number) is not one")
    }
    guard Self.pageSizes.contains(pageSize) else { throw .damaged("its page size") }
    // The free list has integer keys (0x08). Its flags also hold the environment's, of which only "without a folder"
    // (0x4000) changes no layout.
    guard page.load(at: 44, as: UInt16.self) & ~0x4000 == 0x08, page.load(at: 88, as: UInt32.self) == 0,
      page.load(at: 92, as: UInt16.self) == 0, (1..<UInt64(1) << 47).contains(lastPage),
      [freeListRoot, mainRoot].allSatisfy({ $0 == Self.noRoot || $0 > 1 && $0 <= lastPage }),
      transaction & 1 == number || transaction == 0
    else { throw .damaged("meta page \(number) contradicts itself") }
  }

  /// The version in bytes that begin like a meta page.
  static func version(of page: [UInt8]) -> UInt32? {
    page.count == size && page.load(at: 16, as: UInt32.self) == LMDBFile.magic
      ? page.load(at: 20, as: UInt32.self) : nil
  }
}

extension [UInt8] {
  /// The number at `offset`, which must be within the array.
  fileprivate func load<Number: BitwiseCopyable>(at offset: Int, as type: Number.Type) -> Number {
    withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: type) }
  }
}

/// Tells stores from what belongs to someone else, without changing anything.
enum LMDBOwnership {
  /// Whether there is a store in the folder `path`, damaged or not.
  ///
  /// - Throws: `CacheError`: `cannotCreate` if what is there belongs to someone else, `permissionDenied`, `ioFailed`.
  @discardableResult
  static func requireOwn(_ path: String) throws(CacheError) -> Bool {
    try StoreMark.isStore(inFolder: path) { names throws(CacheError) in
      // The file of locks stays where a store was removed.
      if names == ["lock.mdb"] { return isLockFile("\(path)/lock.mdb") ? .nothing : .others }
      guard names.contains("data.mdb") else { return .others }
      do throws(CacheError) {
        guard let file = try LMDBDataFile(in: path) else { return .nothing }
        return file.isOwn ? .store : .others
      } catch {
        // Something that is not a file has the name of the data file.
        guard error.code == .damaged else { throw error }
        return .others
      }
    }
  }

  /// Whether the file is empty, or begins as LMDB's files of locks do.
  private static func isLockFile(_ path: String) -> Bool {
    let file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return false }
    defer { close(file) }
    var magic: UInt32 = 0
    let count = pread(file, &magic, 4, 0)
    return count == 0 || count == 4 && magic == LMDBFile.magic
  }
}
