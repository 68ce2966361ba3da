internal import StorageSPI

/// One state of a damaged store: the roots of one transaction's trees.
struct LMDBState {
  /// The root of the main tree, and the number of its levels.
  let root: UInt64
  let depth: Int
  /// The root of the free list; `nil` if it is unknown.
  let freeList: UInt64?
  /// Its transaction number according to a meta page; `nil` if no credible meta page has one.
  let told: UInt64?
  /// The format record in its main tree; `nil` if there is none, as in stores of version 1.
  let summary: LMDBSummary?

  /// Its transaction number according to its own record.
  var recorded: UInt64? { summary.flatMap { UInt64(exactly: $0.transaction) } }
}

/// The states in a data file whose meta pages may be damaged, the most credible first.
///
/// Three places name the last transaction: its meta page; the format record, which is the first record of its main tree
/// and is written with each change of entries; and the other meta page, whose number is one lower. So the leaf with the
/// latest record leads to the last state even if no meta page does, and the rest of a meta page with a wrong byte still
/// identifies it.
struct LMDBStates {
  let pageSize: Int
  private(set) var all: [LMDBState] = []
  /// A later format version that a record names.
  private(set) var laterFormat: UInt32?
  /// The number of the last transaction, if both meta pages are readable.
  private let last: UInt64?

  private let file: LMDBDataFile
  private var metaPages: [LMDBDamagedMetaPage] = []
  /// For each page, the branch pages whose first child it is.
  private var parents: [UInt64: [UInt64]] = [:]
  private var leaves: [(page: UInt64, summary: LMDBSummary)] = []

  init(_ file: LMDBDataFile) {
    let size = Self.pageSize(of: file)
    let pages = (0..<2).compactMap { LMDBDamagedMetaPage(file, $0, size: size) }
    (self.file, pageSize) = (file, size)
    (metaPages, last) = (pages, LMDBDamagedMetaPage.last(of: pages))
    scan()
    all = (statesOfMetaPages() + statesOfLeaves()).sorted(by: precedes)
  }

  /// Whether the state is known to be that of the last transaction.
  func isLast(_ state: LMDBState) -> Bool { last != nil && (state.told == last || state.recorded == last) }

  /// The page size at which most pages carry the number of their position.
  private static func pageSize(of file: LMDBDataFile) -> Int {
    if let state = LMDBMetaPage.readable(in: file.bytes).first { return state.pageSize }
    let sizes = (9...16).map { 1 << $0 }
    let counts = sizes.map { size in
      (1..<max(2, file.bytes.count / size)).count { number in
        guard let page = file.pages(UInt64(number), count: 1, size) else { return false }
        return page.loadUnaligned(as: UInt64.self) == UInt64(number)
      }
    }
    let best = counts.max() ?? 0
    return best == 0 ? 4_096 : zip(sizes, counts).first { $1 == best }?.0 ?? 4_096
  }

  /// Scans all pages for first leaves of main trees, and for the branch pages above them.
  private mutating func scan() {
    for number in 2..<max(2, UInt64(file.bytes.count / pageSize)) {
      guard let page = file.treePage(number, pageSize), page.count > 0 else { continue }
      guard page.isLeaf else {
        parents[page[0].child, default: []].append(number)
        continue
      }
      guard page[0].key.elementsEqual(LMDBSummary.key), let value = file.value(of: page[0], pageSize) else { continue }
      do throws(LMDBFault) {
        leaves.append((number, try LMDBSummary(value)))
      } catch {
        if case .laterVersion(let version) = error { laterFormat = version }
      }
    }
  }

  private func statesOfMetaPages() -> [LMDBState] {
    metaPages.filter { $0.isSound || $0.leadsToTree(in: file, pageSize) }.map { page in
      LMDBState(
        root: page.root, depth: page.depth, freeList: page.freeList, told: page.isBelievable(last) ? page.told : nil,
        summary: page.summary)
    }
  }

  /// The states whose main trees begin with a leaf found in the scan. It leaves out states later than a sound pair of
  /// meta pages says: their transactions never finished.
  private func statesOfLeaves() -> [LMDBState] {
    let isTold = metaPages.count == 2 && metaPages.allSatisfy(\.isConfirmed)
    let limit = isTold ? last ?? .max : .max
    let known = Set(metaPages.map(\.root))
    return leaves.filter { $0.summary.transaction <= limit }.flatMap { leaf in
      roots(above: leaf.page).filter { !known.contains($0.root) }.map {
        LMDBState(root: $0.root, depth: $0.depth, freeList: nil, told: nil, summary: leaf.summary)
      }
    }
  }

  private func roots(above leaf: UInt64) -> [(root: UInt64, depth: Int)] {
    var (found, next) = ([(root: UInt64, depth: Int)](), 0)
    found.append((leaf, 1))
    while next < found.count, found[next].depth < LMDBTreeCheck.maximumDepth, found.count < 1_000 {
      for parent in parents[found[next].root] ?? [] { found.append((parent, found[next].depth + 1)) }
      next += 1
    }
    return found
  }

  /// The later state goes first; its own record outranks the meta page. Of two states of one transaction, the one that
  /// a meta page names goes first, then the one with the trees of all namespaces in the record.
  private func precedes(_ left: LMDBState, _ right: LMDBState) -> Bool {
    func rank(_ state: LMDBState) -> [UInt64] {
      [state.recorded ?? state.told ?? 0, state.told ?? 0, isComplete(state) ? 1 : 0, UInt64(state.depth)]
    }
    return rank(right).lexicographicallyPrecedes(rank(left))
  }

  private func isComplete(_ state: LMDBState) -> Bool {
    guard let summary = state.summary else { return false }
    let names = file.namespaces(below: state.root, pageSize)
    return summary.totals.allSatisfy { $0.count.entries <= 0 || names.contains($0.namespace) }
  }
}

/// A meta page as stored, with whatever damage it has.
private struct LMDBDamagedMetaPage {
  let root: UInt64
  let depth: Int
  let freeList: UInt64
  /// The transaction number in the page.
  let told: UInt64
  /// The format record in the tree that it leads to.
  let summary: LMDBSummary?
  /// Whether the page itself is undamaged.
  let isSound: Bool

  init?(_ file: LMDBDataFile, _ number: Int, size: Int) {
    guard let page = file.pages(UInt64(number), count: 1, size) else { return nil }
    let main = LMDBTreeRecord(page, at: LMDBMetaPage.mainOffset)
    (root, depth) = (main.root, main.depth)
    freeList = LMDBTreeRecord(page, at: LMDBMetaPage.freeListOffset).root
    told = page.loadUnaligned(fromByteOffset: LMDBMetaPage.transactionOffset, as: UInt64.self)
    summary = try? file.summary(below: main.root, size)
    isSound = LMDBMetaPage.readable(in: file.bytes).contains { [told] in
      $0.pageSize == size && $0.main.root == main.root && $0.transaction == told
    }
  }

  /// Whether page and record agree. Earlier program versions write no record, so an older one may remain.
  var isConfirmed: Bool { isSound && (summary.map { $0.transaction <= Int(clamping: told) } ?? true) }

  /// The candidates for its transaction number. A page of zeros has none.
  private var numbers: [UInt64] {
    (isSound || told > 0 ? [told] : []) + [summary.flatMap { UInt64(exactly: $0.transaction) }].compactMap(\.self)
  }

  /// Whether the transaction number in the page can be correct.
  func isBelievable(_ last: UInt64?) -> Bool {
    guard isSound || last.map({ told == $0 || told &+ 1 == $0 }) ?? false else { return false }
    return summary.map { $0.transaction <= Int(clamping: told) } ?? true
  }

  func leadsToTree(in file: LMDBDataFile, _ size: Int) -> Bool {
    summary != nil || !file.namespaces(below: root, size).isEmpty
  }

  /// The number of the last transaction. It is taken from two pages with consecutive numbers, which every intact store
  /// has; of several such pairs, the latest counts.
  static func last(of pages: [LMDBDamagedMetaPage]) -> UInt64? {
    guard pages.count == 2 else { return nil }
    // Neither page was written since the file was created.
    if pages.allSatisfy({ $0.isSound && $0.told == 0 }) { return 0 }
    return pages[0].numbers.flatMap { first in
      pages[1].numbers.filter { first &+ 1 == $0 || $0 &+ 1 == first }.map { max(first, $0) }
    }.max()
  }
}

extension LMDBDataFile {
  /// The tree page `number`; `nil` if it is not one, or is damaged.
  func treePage(_ number: UInt64, _ pageSize: Int) -> LMDBPage? {
    guard let bytes = pages(number, count: 1, pageSize), bytes.loadUnaligned(as: UInt64.self) == number else {
      return nil
    }
    return try? LMDBPage(bytes, number: number)
  }

  /// The namespaces in a main tree, as far as it is undamaged.
  func namespaces(below root: UInt64, _ pageSize: Int) -> Set<LMDBNamespace> {
    var found = Set<LMDBNamespace>()
    forEachNode(below: root, pageSize) { node in
      if namespaceTree(node) != nil, let namespace = LMDBNamespace(name: node.key) { found.insert(namespace) }
    }
    return found
  }

  /// The tree of the namespace that a record of a main tree names; `nil` if it names none.
  func namespaceTree(_ node: LMDBNode) -> LMDBTreeRecord? {
    guard node.flags == LMDBNode.Flag.tree, node.data.count == LMDBTreeRecord.size, LMDBNamespace(name: node.key) != nil
    else { return nil }
    return LMDBTreeRecord(node.data, at: 0)
  }

  /// Calls `body` with the records of a main tree, as far as it is undamaged.
  func forEachNode(below root: UInt64, _ pageSize: Int, _ body: (LMDBNode) -> Void) {
    var (open, seen) = ([root], Set<UInt64>())
    while let number = open.popLast(), seen.count < 10_000 {
      guard seen.insert(number).inserted, let page = treePage(number, pageSize) else { continue }
      for index in 0..<page.count {
        if page.isLeaf { body(page[index]) } else { open.append(page[index].child) }
      }
    }
  }
}
