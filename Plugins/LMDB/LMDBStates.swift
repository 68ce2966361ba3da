internal import StorageSPI

/// A state of a damaged store: where the trees of one transaction begin.
struct LMDBState {
  /// The root of the main tree, and the number of its levels.
  let root: UInt64
  let depth: Int
  /// The root of the list of free pages; `nil` where it is not known.
  let freeList: UInt64?
  /// The number of its transaction by a meta page; `nil` where none says so that can be believed.
  let told: UInt64?
  /// The record of the format in its main tree; `nil` where there is none, as in stores of version 1.
  let summary: LMDBSummary?

  /// The number of its transaction by its own record.
  var recorded: UInt64? { summary.flatMap { UInt64(exactly: $0.transaction) } }
}

/// The states that a data file holds whose meta pages may be damaged, the one to be believed first.
///
/// Three places name the last transaction: its meta page, the record of the format, which is the first of its
/// main tree and is written with each change of entries, and the other meta page, whose number is the one before. So
/// the leaf with the latest record leads to the last state also where no meta page does, and a meta page with a wrong
/// byte is still known by the rest of it.
struct LMDBStates {
  let pageSize: Int
  private(set) var all: [LMDBState] = []
  /// A later version of the format that a record names.
  private(set) var laterFormat: UInt32?
  /// The number of the last transaction, where both meta pages can be told.
  private let last: UInt64?

  private let file: LMDBDataFile
  private var metaPages: [LMDBDamagedMetaPage] = []
  /// The branch pages whose first child is a page, by that.
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

  /// The size by which most pages have the number of their place.
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

  /// Looks at each page for the first leaf of a main tree, and for the branch pages above it.
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

  /// The states whose main trees begin with a leaf that was found; none that is later than a sound pair of meta pages
  /// says: its transaction was never finished.
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

  /// The later state goes first, by its own record before the meta page. Of two of one transaction goes first the one that a
  /// meta page tells, then the one that has the trees of all namespaces that the record names.
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

/// A meta page as it lies in the file, whatever is wrong with it.
private struct LMDBDamagedMetaPage {
  let root: UInt64
  let depth: Int
  let freeList: UInt64
  /// The number of its transaction, as the page has it.
  let told: UInt64
  /// The record of the format in the tree that it leads to.
  let summary: LMDBSummary?
  /// Whether nothing is wrong with the page itself.
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

  /// Whether page and record agree. An earlier version of the program keeps no record: an older one may be left.
  var isConfirmed: Bool { isSound && (summary.map { $0.transaction <= Int(clamping: told) } ?? true) }

  /// What may be the number of its transaction. A page of zeros says nothing.
  private var numbers: [UInt64] {
    (isSound || told > 0 ? [told] : []) + [summary.flatMap { UInt64(exactly: $0.transaction) }].compactMap(\.self)
  }

  /// Whether the number that the page has for its transaction can be the right one.
  func isBelievable(_ last: UInt64?) -> Bool {
    guard isSound || last.map({ told == $0 || told &+ 1 == $0 }) ?? false else { return false }
    return summary.map { $0.transaction <= Int(clamping: told) } ?? true
  }

  func leadsToTree(in file: LMDBDataFile, _ size: Int) -> Bool {
    summary != nil || !file.namespaces(below: root, size).isEmpty
  }

  /// The number of the last transaction: that of one of two pages whose numbers follow on each other, as they do in every
  /// store; of a pair that does, the latest.
  static func last(of pages: [LMDBDamagedMetaPage]) -> UInt64? {
    guard pages.count == 2 else { return nil }
    // Neither was written since the file was made.
    if pages.allSatisfy({ $0.isSound && $0.told == 0 }) { return 0 }
    return pages[0].numbers.flatMap { first in
      pages[1].numbers.filter { first &+ 1 == $0 || $0 &+ 1 == first }.map { max(first, $0) }
    }.max()
  }
}

extension LMDBDataFile {
  /// The page of a tree; `nil` where it is none, or damaged.
  func treePage(_ number: UInt64, _ pageSize: Int) -> LMDBPage? {
    guard let bytes = pages(number, count: 1, pageSize), bytes.loadUnaligned(as: UInt64.self) == number else {
      return nil
    }
    return try? LMDBPage(bytes, number: number)
  }

  /// The namespaces of a main tree, as far as it is not damaged.
  func namespaces(below root: UInt64, _ pageSize: Int) -> Set<LMDBNamespace> {
    var (found, open, seen) = (Set<LMDBNamespace>(), [root], Set<UInt64>())
    while let number = open.popLast(), seen.count < 10_000 {
      guard seen.insert(number).inserted, let page = treePage(number, pageSize) else { continue }
      for index in 0..<page.count {
        let node = page[index]
        if !page.isLeaf {
          open.append(node.child)
        } else if node.flags == LMDBNode.Flag.tree, node.data.count == LMDBTreeRecord.size,
          let namespace = LMDBNamespace(name: node.key)
        {
          found.insert(namespace)
        }
      }
    }
    return found
  }
}
