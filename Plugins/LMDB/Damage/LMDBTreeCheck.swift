internal import Platform
internal import StorageSPI

/// Walks the trees of a data file without LMDB, and checks everything that LMDB assumes: LMDB trusts its file, and a
/// wrong byte in a page can end the process.
///
/// After a full walk, every page that LMDB can reach from this state has the right location, kind and size. Payloads
/// are not checked.
struct LMDBTreeCheck {
  /// How much to check.
  enum Extent {
    /// Checks what can end the process. In a store that is not small, it skips the leaves of the namespaces, which are
    /// most of the store. It does not check the key order: if that is wrong, LMDB fails to find an entry but does no
    /// harm.
    case bounded
    /// Checks everything.
    case full
  }

  /// A store is small if it has at most this many pages to check. They take about 0.2 ms, most of it spent waiting for
  /// memory.
  static let smallStore: UInt64 = 256
  private static let firstTreePage: UInt64 = 2
  static let maximumDepth = 32

  private let file: LMDBPages
  private let meta: LMDBMetaPage
  private let extent: Extent
  private let branches: LMDBBranchReader?
  /// The pages found so far, one bit each.
  private var pages: [UInt64]
  private var counts = Counts()
  private var tree = Tree.main

  private struct Counts {
    var branches: UInt64 = 0
    var leaves: UInt64 = 0
    var overflows: UInt64 = 0
    var entries: UInt64 = 0
    /// The last key seen, or the separator before the current leaf, which the leaf's first key may equal.
    var last: (key: UnsafeRawBufferPointer, mayRepeat: Bool)?
  }

  private enum Tree { case main, namespace, freeList }

  /// Checks the state that the meta page `meta` describes.
  ///
  /// - Parameter branches: reads the branch pages if leaves are skipped.
  init(
    _ file: UnsafeRawBufferPointer, _ meta: LMDBMetaPage, _ extent: Extent, branches: LMDBBranchReader? = nil
  ) {
    self.file = LMDBPages(bytes: file, size: meta.pageSize)
    self.meta = meta
    self.extent = extent
    self.branches = branches
    pages = Array(repeating: 0, count: Int(meta.lastPage / 64) + 1)
  }

  /// Walks all trees: the main tree, the namespaces' trees found in it, and the free list, whose pages must not belong
  /// to any other tree.
  mutating func run() throws(LMDBFault) {
    try walk(meta.main, .main, withLeaves: true)
    let namespaces = try namespaceRecords()
    let isCutOff = (meta.lastPage + 1) * UInt64(meta.pageSize) > UInt64(file.bytes.count)
    let withLeaves = extent == .full || isCutOff || namespaces.allSatisfy { $0.pagesToCheck <= Self.smallStore }
    for record in namespaces { try walk(record, .namespace, withLeaves: withLeaves) }
    try walk(meta.freeList, .freeList, withLeaves: true)
  }

  private mutating func walk(_ record: LMDBTreeRecord, _ tree: Tree, withLeaves: Bool) throws(LMDBFault) {
    self.tree = tree
    counts = Counts()
    guard record.root != LMDBTreeRecord.noRoot else {
      guard record.depth == 0, record.entries == 0 else { throw .damaged("a tree without pages has entries") }
      return
    }
    guard (1...Self.maximumDepth).contains(record.depth) else { throw .damaged("a tree of depth \(record.depth)") }
    try walk(record.root, levels: record.depth, withLeaves: withLeaves)
    guard counts.branches == record.branchPages else { throw .damaged("a tree has lost branch pages") }
    guard withLeaves else { return }
    guard counts.leaves == record.leafPages, counts.overflows == record.overflowPages, counts.entries == record.entries
    else { throw .damaged("a tree has lost pages or entries") }
  }

  /// - Parameter levels: the number of levels from this page down: 1 for a leaf.
  private mutating func walk(_ number: UInt64, levels: Int, withLeaves: Bool) throws(LMDBFault) {
    try mark(number, count: 1, mustBeInFile: true)
    if levels == 1, !withLeaves { return }
    let page = try withLeaves ? file.page(number) : branch(number, level: levels)
    guard page.isLeaf == (levels == 1) else { throw .damaged("page \(number) is on the wrong level") }
    if page.isLeaf {
      counts.leaves += 1
      guard page.count > 0 else { throw .damaged("page \(number) is empty") }
      for index in 0..<page.count { try visit(page[index]) }
    } else {
      counts.branches += 1
      guard page.count > (tree == .freeList ? 0 : 1) else { throw .damaged("page \(number) has too few nodes") }
      for index in 0..<page.count {
        let node = page[index]
        if index > 0 {
          try advance(to: node.key)
          counts.last?.mayRepeat = true
        }
        if levels == 2, !withLeaves {
          try mark(node.child, count: 1, mustBeInFile: true)
        } else {
          try walk(node.child, levels: levels - 1, withLeaves: withLeaves)
        }
      }
    }
  }

  private mutating func visit(_ node: LMDBNode) throws(LMDBFault) {
    counts.entries += 1
    try advance(to: node.key)
    switch tree {
    case .main:
      if node.key.contains(0) { return try visitTallyRecord(node) }
      guard node.flags == LMDBNode.Flag.tree, node.data.count == LMDBTreeRecord.size,
        LMDBNamespace(name: node.key) != nil
      else { throw .damaged("it holds something else than namespaces") }
    case .namespace:
      guard node.flags & ~LMDBNode.Flag.overflow == 0 else { throw .damaged("an entry has unknown flags") }
      if node.flags != 0 { _ = try overflowValue(of: node) }
    case .freeList:
      guard node.flags & ~LMDBNode.Flag.overflow == 0 else { throw .damaged("the free list has unknown flags") }
      try visitFreePages(node.flags == 0 ? node.data : overflowValue(of: node))
    }
  }

  /// The format record comes first, so that the content of a later format is not mistaken for damage.
  private mutating func visitTallyRecord(_ node: LMDBNode) throws(LMDBFault) {
    if node.key.elementsEqual(LMDBSummary.key) {
      guard node.flags & ~LMDBNode.Flag.overflow == 0 else { throw .damaged("its format record has unknown flags") }
      _ = try LMDBSummary(node.flags == 0 ? node.data : overflowValue(of: node))
    } else {
      guard node.flags == 0, node.data.count == LMDBSlot.valueSize, LMDBSlot(key: node.key) != nil else {
        throw .damaged("a record of its tally is none")
      }
    }
  }

  /// Keys must ascend: by their bytes, or in the free list as numbers, none later than this transaction.
  private mutating func advance(to key: UnsafeRawBufferPointer) throws(LMDBFault) {
    guard (1...LMDBKeyCoding.shortenedSize).contains(key.count) else { throw .damaged("a key has an impossible size") }
    let isNumber = tree == .freeList
    if isNumber {
      guard key.count == 8, key.loadUnaligned(as: UInt64.self) <= meta.transaction else {
        throw .damaged("the free list has an impossible key")
      }
    }
    guard extent == .full || tree != .namespace else { return }
    if let last = counts.last {
      let order = isNumber ? Self.numericOrder(last.key, key) : byteOrder(last.key, key)
      guard order < 0 || (order == 0 && last.mayRepeat) else { throw .damaged("keys are not in order") }
    }
    counts.last = (key, false)
  }

  private static func numericOrder(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
    let (left, right) = (left.loadUnaligned(as: UInt64.self), right.loadUnaligned(as: UInt64.self))
    return left == right ? 0 : left < right ? -1 : 1
  }
}

extension LMDBTreeCheck {
  private func branch(_ number: UInt64, level: Int) throws(LMDBFault) -> LMDBPage {
    guard let branches else { return try file.page(number) }
    return try LMDBPage(branches.read(number, size: meta.pageSize, level: level), number: number)
  }

  private mutating func overflowValue(of node: LMDBNode) throws(LMDBFault) -> UnsafeRawBufferPointer {
    let found = try file.overflowValue(of: node)
    try mark(found.first, count: found.pages, mustBeInFile: true)
    counts.overflows += found.pages
    return found.value
  }

  /// Free pages are listed as their number, followed by the pages in descending order.
  private mutating func visitFreePages(_ list: UnsafeRawBufferPointer) throws(LMDBFault) {
    guard list.count >= 8 else { throw .damaged("the free list is cut off") }
    let count = list.loadUnaligned(as: UInt64.self)
    guard count <= UInt64(list.count / 8 - 1) else { throw .damaged("the free list is cut off") }
    var last = UInt64.max
    for index in 0..<Int(count) {
      let page = list.loadUnaligned(fromByteOffset: 8 * (index + 1), as: UInt64.self)
      guard page < last else { throw .damaged("the free list is not in order") }
      try mark(page, count: 1, mustBeInFile: false)
      last = page
    }
  }

  /// Marks pages as used, each once and within the file.
  private mutating func mark(_ first: UInt64, count: UInt64, mustBeInFile: Bool) throws(LMDBFault) {
    let end = first.addingReportingOverflow(count)
    guard first >= Self.firstTreePage, !end.overflow, end.partialValue <= meta.lastPage + 1,
      !mustBeInFile || end.partialValue <= UInt64(file.bytes.count / meta.pageSize)
    else { throw .damaged("it is cut off, or refers to page \(first), which it does not have") }
    for page in first..<end.partialValue {
      let (word, bit) = (Int(page / 64), UInt64(1) << (page % 64))
      guard pages[word] & bit == 0 else { throw .damaged("page \(page) is in use twice") }
      pages[word] |= bit
    }
  }

  /// The records of the namespaces' trees, available once the main tree was walked.
  private func namespaceRecords() throws(LMDBFault) -> [LMDBTreeRecord] {
    guard meta.main.root != LMDBTreeRecord.noRoot else { return [] }
    var (records, open) = ([LMDBTreeRecord](), [meta.main.root])
    while let number = open.popLast() {
      let page = try file.page(number)
      for index in 0..<page.count {
        if page.isLeaf {
          let node = page[index]
          if node.flags & LMDBNode.Flag.tree != 0 { records.append(LMDBTreeRecord(node.data, at: 0)) }
        } else {
          open.append(page[index].child)
        }
      }
    }
    guard records.allSatisfy({ $0.flags == 0 && $0.pad == 0 }) else { throw .damaged("a namespace has unknown flags") }
    return records
  }
}

/// Reads pages of a data file that are far apart. Mapping each of them, with the pages around it, takes several times
/// as long.
final class LMDBBranchReader {
  private let descriptor: Int32
  /// One page buffer for each level of a tree, because the pages above stay in use.
  private var rooms: [Int: UnsafeMutableRawBufferPointer] = [:]

  /// Creates a reader of the open file `descriptor`.
  init(_ descriptor: Int32) { self.descriptor = descriptor }

  deinit { for room in rooms.values { room.deallocate() } }

  /// The page with the number `number`, valid until another page of the same level is read.
  func read(_ number: UInt64, size: Int, level: Int) throws(LMDBFault) -> UnsafeRawBufferPointer {
    let room = rooms[level] ?? UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
    rooms[level] = room
    guard pread(descriptor, room.baseAddress, size, Int(number) * size) == size else {
      throw .damaged("page \(number) cannot be read")
    }
    return UnsafeRawBufferPointer(room)
  }
}
