internal import Glibc
internal import StorageSPI

/// Walks the trees of a data file by its own means and checks all that LMDB takes for granted: LMDB trusts its file,
/// and a wrong byte in a page can end the process.
///
/// After a full walk every page that LMDB can reach from this state is where, what and as large as it has to be. The
/// payloads are not looked at.
struct LMDBTreeCheck {
  /// How much to look at.
  enum Extent {
    /// What can end the process, and in a store that is not small not the leaves of the namespaces, which are most of
    /// it. The order of their keys is left out: LMDB does not find an entry then, but comes to no harm.
    case bounded
    /// Everything.
    case full
  }

  /// A store is small up to this many pages to look at. They take about 0.2 ms: most of it is waiting for memory.
  static let smallStore: UInt64 = 256
  private static let firstTreePage: UInt64 = 2
  static let maximumDepth = 32

  private let file: UnsafeRawBufferPointer
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
    /// The last key seen, or the separator before the current leaf, which its first key may equal.
    var last: (key: UnsafeRawBufferPointer, mayRepeat: Bool)?
  }

  private enum Tree { case main, namespace, freeList }

  /// A check of the state that the meta page `meta` describes.
  ///
  /// - Parameter branches: reads the branch pages where the leaves are left out.
  init(
    _ file: UnsafeRawBufferPointer, _ meta: LMDBMetaPage, _ extent: Extent, branches: LMDBBranchReader? = nil
  ) {
    self.file = file
    self.meta = meta
    self.extent = extent
    self.branches = branches
    pages = Array(repeating: 0, count: Int(meta.lastPage / 64) + 1)
  }

  /// Walks all trees: the main one, those of the namespaces found in it, and the free list, whose pages must be none of
  /// the others'.
  mutating func run() throws(LMDBFault) {
    try walk(meta.main, .main, withLeaves: true)
    let namespaces = try namespaceRecords()
    let isCutOff = (meta.lastPage + 1) * UInt64(meta.pageSize) > UInt64(file.count)
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
    let page = try withLeaves ? page(number) : branch(number, level: levels)
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

  /// The format's record is the first of all, so that what a later format holds is not taken for damage.
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

  /// Keys ascend: by their bytes, and in the free list as numbers, none of which is a later transaction than this.
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
      let order = isNumber ? Self.numericOrder(last.key, key) : Self.byteOrder(last.key, key)
      guard order < 0 || (order == 0 && last.mayRepeat) else { throw .damaged("keys are not in order") }
    }
    counts.last = (key, false)
  }

  private static func byteOrder(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
    guard let first = left.baseAddress, let second = right.baseAddress else { return left.count - right.count }
    let order = Int(memcmp(first, second, min(left.count, right.count)))
    return order == 0 ? left.count - right.count : order
  }

  private static func numericOrder(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
    let (left, right) = (left.loadUnaligned(as: UInt64.self), right.loadUnaligned(as: UInt64.self))
    return left == right ? 0 : left < right ? -1 : 1
  }
}

extension LMDBTreeCheck {
  private func page(_ number: UInt64) throws(LMDBFault) -> LMDBPage {
    let start = Int(number) * meta.pageSize
    return try LMDBPage(UnsafeRawBufferPointer(rebasing: file[start..<start + meta.pageSize]), number: number)
  }

  private func branch(_ number: UInt64, level: Int) throws(LMDBFault) -> LMDBPage {
    guard let branches else { return try page(number) }
    return try LMDBPage(branches.read(number, size: meta.pageSize, level: level), number: number)
  }

  /// The value of a node that lies in pages of its own, which have one header and no gaps.
  private mutating func overflowValue(of node: LMDBNode) throws(LMDBFault) -> UnsafeRawBufferPointer {
    let number = node.data.loadUnaligned(as: UInt64.self)
    try mark(number, count: 1, mustBeInFile: true)
    let start = Int(number) * meta.pageSize
    let count = UInt64(file.loadUnaligned(fromByteOffset: start + 12, as: UInt32.self))
    let needed = (LMDBPage.headerSize - 1 + node.valueSize) / meta.pageSize + 1
    guard file.loadUnaligned(fromByteOffset: start, as: UInt64.self) == number,
      file.loadUnaligned(fromByteOffset: start + 10, as: UInt16.self) == LMDBPage.Kind.overflow, count >= needed
    else { throw .damaged("page \(number) does not hold the value that it should") }
    if count > 1 { try mark(number + 1, count: count - 1, mustBeInFile: true) }
    counts.overflows += count
    let first = start + LMDBPage.headerSize
    return UnsafeRawBufferPointer(rebasing: file[first..<first + node.valueSize])
  }

  /// Free pages are listed as their number and then the pages, descending.
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

  /// Notes that pages are in use, once and within the file.
  private mutating func mark(_ first: UInt64, count: UInt64, mustBeInFile: Bool) throws(LMDBFault) {
    let end = first.addingReportingOverflow(count)
    guard first >= Self.firstTreePage, !end.overflow, end.partialValue <= meta.lastPage + 1,
      !mustBeInFile || end.partialValue <= UInt64(file.count / meta.pageSize)
    else { throw .damaged("it is cut off, or refers to page \(first), which it does not have") }
    for page in first..<end.partialValue {
      let (word, bit) = (Int(page / 64), UInt64(1) << (page % 64))
      guard pages[word] & bit == 0 else { throw .damaged("page \(page) is in use twice") }
      pages[word] |= bit
    }
  }

  /// The records of the namespaces' trees, after the main tree was walked.
  private func namespaceRecords() throws(LMDBFault) -> [LMDBTreeRecord] {
    guard meta.main.root != LMDBTreeRecord.noRoot else { return [] }
    var (records, open) = ([LMDBTreeRecord](), [meta.main.root])
    while let number = open.popLast() {
      let page = try page(number)
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
