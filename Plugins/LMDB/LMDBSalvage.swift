internal import Glibc
internal import StorageSPI

/// Finds the entries of a store that may be damaged anywhere. It goes down the trees of one state, and takes from each
/// page all that lies within it: whether an entry is what was once written is for others to tell.
struct LMDBSalvage {
  /// An entry that lies in the file, under the key that it says it has.
  struct Found {
    let key: CacheKey
    let value: UnsafeRawBufferPointer
    /// Whether its page lists it. One that lies there unlisted may have been replaced or removed.
    let isListed: Bool
  }

  private let file: LMDBDataFile
  private let states: LMDBStates
  /// The state whose trees are read; `nil` where no tree can be found.
  let state: LMDBState?
  /// What is wrong, but for what the receiver of entries finds wrong with those.
  private(set) var issues: [IntegrityIssue] = []
  private var pageSize: Int { states.pageSize }
  private var visited: Set<UInt64> = []
  /// The pages that are free; `nil` where that is not known.
  private let free: Set<UInt64>?
  /// The pages that are free and in a tree: one of the two is wrong.
  private var disputed: Set<UInt64> = []
  /// Whether a page in a tree says that its place is another: then it may be an older one.
  private(set) var hasMisplacedPage = false
  private var namespace = LMDBNamespace.none

  /// - Parameter file: a data file that no process writes to.
  init(_ file: LMDBDataFile) {
    file.coverHoles()
    let states = LMDBStates(file)
    (self.file, self.states) = (file, states)
    state = states.all.first { Self.leadsAnywhere($0, file, states) }
    free = state.flatMap { Self.freePages($0, file, states.pageSize) }
  }

  private init(_ file: LMDBDataFile, _ states: LMDBStates, _ state: LMDBState) {
    (self.file, self.states, self.state, free) = (file, states, state, nil)
  }

  private static func leadsAnywhere(_ state: LMDBState, _ file: LMDBDataFile, _ states: LMDBStates) -> Bool {
    if state.root == LMDBTreeRecord.noRoot { return state.told != nil }
    var probe = LMDBSalvage(file, states, state)
    return state.summary != nil || !probe.namespaceTrees(state).isEmpty
  }

  /// The error of a store of a later version, of which this program cannot tell what is damaged.
  func requireKnownFormat(_ path: String) throws(StorageError) {
    if let version = LMDBMetaPage.laterVersion(in: file.bytes) ?? states.laterFormat {
      throw .lmdb(.laterVersion(version), in: path)
    }
  }

  /// What is wrong with the structure of the file; `nil` where nothing is.
  func structureFault() -> LMDBFault? {
    do throws(LMDBFault) {
      try LMDBMetaPage.requireConsecutive(in: file.bytes)
      let both = try LMDBMetaPage.both(in: file.bytes)
      let latest = both[both[0].transaction >= both[1].transaction ? 0 : 1]
      guard let state, state.root == latest.main.root, isLast else { throw .damaged("its latest meta page is not") }
      var check = LMDBTreeCheck(file.bytes, latest, .full)
      try check.run()
      return nil
    } catch {
      return error
    }
  }

  /// Whether it is certain which pages are free, so that what lies on others is not what was removed.
  var knowsFreePages: Bool { free != nil && disputed.isEmpty }

  /// Whether the state is known to be that of the last transaction.
  var isLast: Bool { state.map(states.isLast) ?? false }

  /// The number of entries that the state has by its own record; `nil` where it has none that counts.
  var expectedEntries: Int? {
    guard isLast, let state, let summary = state.summary, state.told ?? state.recorded == state.recorded else {
      return nil
    }
    return summary.totals.reduce(0 as Int?) { sum, total in
      guard let sum, total.count.isPossible else { return nil }
      let (next, isTooLarge) = sum.addingReportingOverflow(total.count.entries)
      return isTooLarge ? nil : next
    }
  }

  /// The tally that the state keeps of itself; `nil` where it keeps none. The structure must be sound.
  mutating func keptTally() -> (totals: [LMDBNamespace: EntryTally.Count], slots: [LMDBSlot: EntryTally.Count])? {
    guard let state, let summary = state.summary, state.told == state.recorded else { return nil }
    var (totals, slots) = ([LMDBNamespace: EntryTally.Count](), [LMDBSlot: EntryTally.Count]())
    for total in summary.totals where total.count != EntryTally.Count() { totals[total.namespace] = total.count }
    visited = []
    forEachNode(ofMainTreeIn: state) { node, _ in
      if let slot = LMDBSlot(key: node.key), node.data.count == LMDBSlot.valueSize {
        slots[slot] = EntryTally.Count(node.data, at: 0)
      }
    }
    return (totals, slots)
  }

  /// Gives every entry to `receive` that a tree leads to.
  mutating func run(_ receive: (Found) throws(StorageError) -> Void) throws(StorageError) {
    (issues, visited, disputed) = ([], [], [])
    guard let state else { return report("its trees cannot be found: entries may be lost") }
    if !isLast { report("its last transaction cannot be told: what that stored may be lost") }
    if state.root != LMDBTreeRecord.noRoot {
      for (namespace, tree) in namespaceTrees(state) {
        self.namespace = namespace
        try visit(tree.root, levels: tree.depth, receive)
      }
    }
  }

  /// After `run`: gives the entries to `receive` that lie on pages to which no tree leads, and which are not free: those
  /// that something damaged led to. Where it is not known which are free, removed entries are among them, and older ones.
  mutating func runUnreached(_ receive: (Found) throws(StorageError) -> Void) throws(StorageError) {
    let isMetaPageAlone = state != nil && issues.count == (isLast ? 0 : 1)
    if free == nil {
      if isMetaPageAlone { return }
      report("pages in use cannot be told from free ones: removed entries may have come back")
    }
    let (reached, free, disputed) = (visited, free, disputed)
    try visitLeaves(receive) { page in
      !reached.contains(page) && (free?.contains(page) != true || disputed.contains(page))
    }
  }

  /// The pages that are free in a state; `nil` where the list of them is damaged.
  private static func freePages(_ state: LMDBState, _ file: LMDBDataFile, _ pageSize: Int) -> Set<UInt64>? {
    guard let root = state.freeList else { return nil }
    if root == LMDBTreeRecord.noRoot { return [] }
    var (free, open, seen) = (Set<UInt64>(), [root], Set<UInt64>())
    while let number = open.popLast() {
      guard seen.insert(number).inserted, let page = file.treePage(number, pageSize) else { return nil }
      for index in 0..<page.count {
        guard page.isLeaf else {
          open.append(page[index].child)
          continue
        }
        guard let list = file.value(of: page[index], pageSize), list.count >= 8 else { return nil }
        for offset in stride(from: 8, to: list.count - 7, by: 8) {
          free.insert(list.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
      }
    }
    return free
  }

  /// Goes through those of the file's leaves that are wanted, where no tree leads to them. Of several entries under one
  /// key the one that was stored last is taken.
  private mutating func visitLeaves(
    _ receive: (Found) throws(StorageError) -> Void, _ isWanted: (UInt64) -> Bool
  ) throws(StorageError) {
    var latest: [CacheKey: (storedAt: Timestamp, value: UnsafeRawBufferPointer)] = [:]
    for number in 0..<UInt64(file.bytes.count / pageSize) where isWanted(number) {
      guard let page = file.treePage(number, pageSize), page.isLeaf else { continue }
      for index in 0..<page.count {
        guard let slash = page[index].key.firstIndex(of: UInt8(ascii: "/")),
          let namespace = LMDBNamespace(name: UnsafeRawBufferPointer(rebasing: page[index].key[..<slash]))
        else { continue }
        self.namespace = namespace
        guard let found = entry(page[index], false), let entry = try? LMDBEntry(found.value),
          let storedAt = try? entry.metadata().storedAt, storedAt >= latest[found.key]?.storedAt ?? storedAt
        else { continue }
        latest[found.key] = (storedAt, found.value)
      }
    }
    for (key, found) in latest { try receive(Found(key: key, value: found.value, isListed: false)) }
  }

  /// The trees of the namespaces, found in the main one.
  private mutating func namespaceTrees(_ state: LMDBState) -> [(LMDBNamespace, LMDBTreeRecord)] {
    var (found, lost) = ([(LMDBNamespace, LMDBTreeRecord)](), [String]())
    forEachNode(ofMainTreeIn: state) { node, isListed in
      if node.data.count == LMDBTreeRecord.size, let namespace = LMDBNamespace(name: node.key) {
        let record = LMDBTreeRecord(node.data, at: 0)
        if record.root != LMDBTreeRecord.noRoot { found.append((namespace, record)) }
      } else if isListed, !node.key.contains(0) {
        lost.append(String(decoding: node.key.prefix(LMDBNamespace.size), as: UTF8.self))
      }
    }
    for name in lost { report("the record of namespace '\(name)' cannot be read: its entries are lost") }
    return found
  }

  private mutating func forEachNode(ofMainTreeIn state: LMDBState, _ body: (LMDBNode, Bool) -> Void) {
    var open = [(page: state.root, levels: state.depth)]
    while let (number, levels) = open.popLast() {
      guard let page = page(number, levels: levels) else { continue }
      for (node, isListed) in nodes(of: page.bytes, isLeaf: page.isLeaf) {
        if page.isLeaf { body(node, isListed) } else { open.append((node.child, levels - 1)) }
      }
    }
  }

  private mutating func visit(
    _ number: UInt64, levels: Int, _ receive: (Found) throws(StorageError) -> Void
  ) throws(StorageError) {
    guard levels > -LMDBTreeCheck.maximumDepth, let page = page(number, levels: levels) else { return }
    for (node, isListed) in nodes(of: page.bytes, isLeaf: page.isLeaf) {
      if page.isLeaf {
        if let found = entry(node, isListed) { try receive(found) }
      } else {
        try visit(node.child, levels: levels - 1, receive)
      }
    }
  }

  /// The entry in a node of a leaf; `nil` where there is none.
  ///
  /// - Parameter isListed: whether the page names the node: then it is an entry that is lost.
  private mutating func entry(_ node: LMDBNode, _ isListed: Bool) -> Found? {
    guard let value = file.value(of: node, pageSize) else {
      if isListed { lose(node.key, "it lies outside of the file") }
      return nil
    }
    var bytes = node.key
    if LMDBKeyCoding.isShortened(node.key) {
      do throws(LMDBFault) {
        guard let key = try LMDBEntry(value).fullKey() else { throw .damaged("its full key is missing") }
        bytes = key
        if isListed, !LMDBKeyCoding().isShortened(node.key, of: key) {
          report("an entry is stored under another key than its own, where it could not be found")
        }
      } catch {
        if isListed { lose(node.key, "its full key cannot be read") }
        return nil
      }
    }
    guard let key = try? CacheKey(String(decoding: bytes, as: UTF8.self)) else {
      if isListed { lose(bytes, "its key is none") }
      return nil
    }
    if isListed, LMDBNamespace(key) != namespace {
      report("entry \(key) is stored in namespace \(namespace.name), where it could not be found")
    }
    return Found(key: key, value: value, isListed: isListed)
  }
}

extension LMDBSalvage {
  /// A page of a tree, whose place in the tree stands in where its own kind is wrong; `nil` where it was visited
  /// already, or is not in the file.
  private mutating func page(_ number: UInt64, levels: Int) -> (bytes: UnsafeRawBufferPointer, isLeaf: Bool)? {
    guard free?.contains(number) != true else {
      disputed.insert(number)
      report("page \(number) is in use and free: entries may be lost")
      return nil
    }
    guard visited.insert(number).inserted else {
      report("page \(number) is in use twice: entries may be lost")
      return nil
    }
    guard let bytes = file.pages(number, count: 1, pageSize) else {
      report("page \(number) is not in the file: entries may be lost")
      return nil
    }
    do throws(LMDBFault) {
      return (bytes, try LMDBPage(bytes, number: number).isLeaf)
    } catch {
      report("page \(number) is damaged: entries may be lost")
      if bytes.loadUnaligned(as: UInt64.self) != number { hasMisplacedPage = true }
    }
    switch bytes.loadUnaligned(fromByteOffset: 10, as: UInt16.self) {
    case LMDBPage.Kind.leaf: return (bytes, true)
    case LMDBPage.Kind.branch: return (bytes, false)
    default: return (bytes, levels <= 1)
    }
  }

  /// All that may be a node of a page: those that it lists, and in the order in which they lie side by side, those that
  /// it does not.
  private func nodes(of page: UnsafeRawBufferPointer, isLeaf: Bool) -> [(node: LMDBNode, isListed: Bool)] {
    let end = Int(page.loadUnaligned(fromByteOffset: 12, as: UInt16.self))
    let listed = stride(from: LMDBPage.headerSize, to: min(end, page.count - 1), by: 2).map {
      Int(page.loadUnaligned(fromByteOffset: $0, as: UInt16.self))
    }
    let known = Set(listed)
    var (offsets, offset) = (listed, Int(page.loadUnaligned(fromByteOffset: 14, as: UInt16.self)))
    while offset >= LMDBPage.headerSize, offset < page.count {
      if !known.contains(offset) { offsets.append(offset) }
      offset += LMDBNode.size(page, at: offset, isLeaf: isLeaf)
    }
    return offsets.compactMap { offset in
      LMDBNode.ifWithin(page, at: offset, isLeaf: isLeaf).map { ($0, known.contains(offset)) }
    }
  }

  private mutating func lose(_ key: UnsafeRawBufferPointer, _ why: String) {
    let text = String(decoding: key.prefix(80), as: UTF8.self)
    issues.append(
      IntegrityIssue(
        key: try? CacheKey(text), kind: .undecodable, message: "an entry whose key begins with '\(text)': \(why)"))
  }

  private mutating func report(_ message: String) {
    issues.append(IntegrityIssue(kind: .structure, message: message))
  }
}
