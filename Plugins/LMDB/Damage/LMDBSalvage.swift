internal import Platform
internal import StorageSPI

/// Finds the entries of a store that may be damaged anywhere. It walks the trees of one state and takes every entry
/// that lies within its page. The caller judges whether an entry still has the content that was written.
struct LMDBSalvage {
  /// An entry in the file, under the key that it claims to have.
  struct Found {
    let key: CacheKey
    let value: UnsafeRawBufferPointer
    /// Whether its page lists it. An unlisted entry may have been replaced or removed.
    let isListed: Bool
  }

  private let file: LMDBDataFile
  private let states: LMDBStates
  /// The state whose trees are read; `nil` if no tree can be found.
  let state: LMDBState?
  /// The damage found, not counting what the receiver finds wrong with entries.
  private(set) var issues: [IntegrityIssue] = []
  private var pageSize: Int { states.pageSize }
  private var visited: Set<UInt64> = []
  /// The free pages; `nil` if they are unknown.
  private let free: Set<UInt64>?
  /// Pages that are both free and in a tree: one of the two is wrong.
  private var disputed: Set<UInt64> = []
  /// Whether a page in a tree names another location as its own: then it may be outdated.
  private(set) var hasMisplacedPage = false
  private var namespace = LMDBNamespace.none

  /// - Parameter file: a data file that no process is writing to.
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

  /// Throws if the store is of a later version, whose damage this program cannot recognize.
  func requireKnownFormat(_ path: String) throws(CacheError) {
    if let version = LMDBMetaPage.laterVersion(in: file.bytes) ?? states.laterFormat {
      throw .lmdb(.laterVersion(version), in: path)
    }
  }

  /// The damage to the structure of the file; `nil` if there is none.
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

  /// Whether the free pages are known for certain, so that entries on other pages are not removed ones.
  var knowsFreePages: Bool { free != nil && disputed.isEmpty }

  /// Whether the state is known to be that of the last transaction.
  var isLast: Bool { state.map(states.isLast) ?? false }

  /// The number of entries according to the state's own record; `nil` if there is no valid record.
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

  /// The tally stored with the state; `nil` if there is none. The structure must be sound.
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

  /// Passes every entry that a tree leads to to `receive`.
  mutating func run(_ receive: (Found) throws(CacheError) -> Void) throws(CacheError) {
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

  /// After `run`: passes to `receive` the entries on pages that no tree leads to and that are not free. Something
  /// damaged led to those. If the free pages are unknown, removed and outdated entries are among them.
  mutating func runUnreached(_ receive: (Found) throws(CacheError) -> Void) throws(CacheError) {
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

  /// The pages that are free in a state; `nil` if the list of them is damaged.
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

  /// Visits the wanted leaves of the file that no tree leads to. Of several entries under one key it takes the one
  /// stored last.
  private mutating func visitLeaves(
    _ receive: (Found) throws(CacheError) -> Void, _ isWanted: (UInt64) -> Bool
  ) throws(CacheError) {
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

  /// The trees of the namespaces, found in the main tree.
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
    _ number: UInt64, levels: Int, _ receive: (Found) throws(CacheError) -> Void
  ) throws(CacheError) {
    guard levels > -LMDBTreeCheck.maximumDepth, let page = page(number, levels: levels) else { return }
    for (node, isListed) in nodes(of: page.bytes, isLeaf: page.isLeaf) {
      if page.isLeaf {
        if let found = entry(node, isListed) { try receive(found) }
      } else {
        try visit(node.child, levels: levels - 1, receive)
      }
    }
  }

  /// The entry in a leaf's node; `nil` if there is none.
  ///
  /// - Parameter isListed: whether the page lists the node, so that the entry counts as lost if it is unreadable.
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
  /// A page of a tree; `nil` if it was already visited or is not in the file. If its kind is wrong, its position in the
  /// tree decides.
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

  /// Everything that may be a node of a page: the listed nodes and, in the order in which they lie side by side, the
  /// unlisted ones.
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
