internal import CLMDB
internal import Platform
internal import StorageSPI
internal import Synchronization

/// Visits the entries of a namespace in key order, and checks every page before it reads it.
///
/// LMDB trusts its pages: its cursors end the process at a damaged leaf, and opening a store checks leaves only if it is
/// small (see `LMDBTreeCheck`). So listings read the mapped pages with this walk.
struct LMDBTreeWalk {
  /// An entry: its stored key and its value, in place.
  typealias Item = LMDBCursor.Item

  private let environment: LMDBEnvironment
  private let pages: LMDBPages
  private let root: LMDBTreeRecord
  /// The way from the root to the current entry.
  private var path: [(page: LMDBPage, index: Int)] = []
  private var last: UnsafeRawBufferPointer?
  /// The leaves that were found sound before a removal.
  private var checkedLeaves: Set<UInt64> = []
  /// Whether branches were checked when the store was opened, and are not checked again.
  private var knowsBranches = false

  fileprivate init(_ root: LMDBTreeRecord, _ pages: LMDBPages, _ environment: LMDBEnvironment) {
    (self.root, self.pages, self.environment) = (root, pages, environment)
  }

  /// The first entry whose stored key is `key` or greater.
  ///
  /// - Throws: `damaged` if a page on the way is damaged; `next` does too.
  mutating func seek(_ key: UnsafeRawBufferPointer) throws(CacheError) -> Item? {
    try checking { walk throws(LMDBFault) in
      try walk.descend(to: key)
      return try walk.current()
    }
  }

  /// The entry after the current one.
  mutating func next() throws(CacheError) -> Item? {
    try checking { walk throws(LMDBFault) in
      walk.advance()
      return try walk.current()
    }
  }

  /// Checks the leaves that LMDB may read when it removes the entry under the stored key `key`. It moves on to the next
  /// leaf. If too little is left in a page, it merges it with a neighbor, and for a branch it looks up the lowest keys
  /// below. Of a large value it frees as many pages as their header says.
  ///
  /// Cost: some microseconds.
  ///
  /// - Throws: `damaged`.
  mutating func requireSoundPages(toRemove key: UnsafeRawBufferPointer) throws(CacheError) {
    try checking { walk throws(LMDBFault) in
      walk.knowsBranches = true
      try walk.descend(to: key)
      guard let (leaf, index) = walk.path.popLast() else { return }
      if index < leaf.count, leaf[index].flags & LMDBNode.Flag.overflow != 0 {
        _ = try walk.pages.overflowValue(of: leaf[index])
      }
      for (level, (branch, index)) in walk.path.enumerated() {
        let isLowest = level == walk.path.count - 1
        for child in [0, index + 1, isLowest ? index - 1 : 0] where child != index && (0..<branch.count).contains(child)
        {
          try walk.requireSoundFirstLeaf(below: branch[child].child, level: level + 1)
        }
      }
    }
  }

  /// - Parameter level: the level of the page `number`, 0 for the root.
  private mutating func requireSoundFirstLeaf(below number: UInt64, level: Int) throws(LMDBFault) {
    var (number, level) = (number, level)
    while level + 1 < root.depth {
      number = try page(number, isLeaf: false)[0].child
      level += 1
    }
    if checkedLeaves.insert(number).inserted { _ = try page(number, isLeaf: true) }
  }

  private mutating func checking<Output>(
    _ body: (inout LMDBTreeWalk) throws(LMDBFault) -> Output
  ) throws(CacheError) -> Output {
    do throws(LMDBFault) {
      return try body(&self)
    } catch {
      environment.isDamaged.store(true, ordering: .relaxed)
      throw .lmdb(error, in: LMDBFile.data(in: environment.path))
    }
  }

  private mutating func descend(to key: UnsafeRawBufferPointer) throws(LMDBFault) {
    (path, last) = ([], nil)
    guard root.root != LMDBTreeRecord.noRoot else { return }
    try enter(root.root, key)
    while let (page, index) = path.last, !page.isLeaf { try enter(page[index].child, key) }
  }

  /// Goes to the place of `key` in a page one level below the current one; `nil` goes to the page's first node.
  private mutating func enter(_ number: UInt64, _ key: UnsafeRawBufferPointer?) throws(LMDBFault) {
    let page = try page(number, isLeaf: path.count + 1 == root.depth)
    path.append((page, key.map { Self.index(of: $0, in: page) } ?? 0))
  }

  private func page(_ number: UInt64, isLeaf: Bool) throws(LMDBFault) -> LMDBPage {
    let page = try pages.page(number, knowsBranches: knowsBranches)
    guard page.isLeaf == isLeaf, page.count > 0 else {
      throw .damaged("page \(number) is on the wrong level, or empty")
    }
    if isLeaf {
      for index in 0..<page.count {
        let node = page[index]
        guard (1...LMDBKeyCoding.shortenedSize).contains(node.key.count), node.flags & ~LMDBNode.Flag.overflow == 0,
          index == 0 || byteOrder(page[index - 1].key, node.key) < 0
        else { throw .damaged("page \(number) has a key that cannot be there") }
      }
    }
    return page
  }

  /// In a leaf, the first node whose key is `key` or greater; in a branch, whose first key counts as the lowest, the last
  /// node whose key is `key` or less.
  private static func index(of key: UnsafeRawBufferPointer, in page: LMDBPage) -> Int {
    var (low, high) = (page.isLeaf ? 0 : 1, page.count)
    while low < high {
      let middle = (low + high) / 2
      let order = byteOrder(page[middle].key, key)
      if order < 0 || (order == 0 && !page.isLeaf) { low = middle + 1 } else { high = middle }
    }
    return page.isLeaf ? low : low - 1
  }

  private mutating func advance() {
    if !path.isEmpty { path[path.count - 1].index += 1 }
  }

  /// The current entry, or the first one of the next leaf; `nil` at the end.
  private mutating func current() throws(LMDBFault) -> Item? {
    while let (page, index) = path.last {
      if index == page.count {
        path.removeLast()
        advance()
      } else if page.isLeaf {
        return try item(page[index])
      } else {
        try enter(page[index].child, nil)
      }
    }
    return nil
  }

  /// Keys must also ascend from leaf to leaf; otherwise a listing that continues after the last key could loop forever.
  private mutating func item(_ node: LMDBNode) throws(LMDBFault) -> Item {
    if let last, byteOrder(last, node.key) >= 0 {
      throw .damaged("the leaf after the key \(String(decoding: last, as: UTF8.self)) is out of order")
    }
    last = node.key
    return (node.key, node.flags == 0 ? node.data : try pages.overflowValue(of: node).value)
  }
}

extension LMDBTransaction {
  /// A walk through the entries of `namespace` in the state that this transaction reads; `nil` if there are none. The
  /// transaction must be read-only: some of a writer's pages are outside the map.
  func walk(through namespace: LMDBNamespace) throws(CacheError) -> LMDBTreeWalk? {
    let name = Array(namespace.name.utf8)
    let record = try name.span.withUnsafeBytes { name throws(CacheError) in
      try value(name, in: LMDBEnvironment.mainDatabase)
    }
    guard let record else { return nil }
    guard record.count == LMDBTreeRecord.size, let pages = mappedPages(around: record) else {
      throw .lmdb(.damaged("the record of namespace \(namespace.name) cannot be there"), in: environment.path)
    }
    return LMDBTreeWalk(LMDBTreeRecord(record, at: 0), pages, environment)
  }

  /// Calls `body` with each entry of `namespace`, in order.
  func forEachItem(
    in namespace: LMDBNamespace, _ body: (LMDBTreeWalk.Item) throws(CacheError) -> Void
  ) throws(CacheError) {
    guard var walk = try walk(through: namespace) else { return }
    var item = try walk.seek(UnsafeRawBufferPointer(start: nil, count: 0))
    while let current = item {
      try body(current)
      item = try walk.next()
    }
  }

  /// The map's pages. `value` is a value of the main database; `nil` if it is too large to be in a leaf.
  ///
  /// LMDB does not say where its map begins. Any page tells, because its first eight bytes are its number.
  func mappedPages(around value: UnsafeRawBufferPointer) -> LMDBPages? {
    var (stat, info) = (MDB_stat(), MDB_envinfo())
    mdb_env_stat(environment.pointer, &stat)
    mdb_env_info(environment.pointer, &info)
    let size = Int(stat.ms_psize)
    guard let value = value.baseAddress,
      let leaf = LMDBPages.leaf(around: value, pageSize: size, systemPageSize: Int(getpagesize())),
      leaf.number <= UInt64(info.me_last_pgno)
    else { return nil }
    let bytes = UnsafeRawBufferPointer(
      start: leaf.start - Int(leaf.number) * size, count: LMDBPages.mappedBytes(info, pageSize: size))
    return LMDBPages(bytes: bytes, size: size)
  }
}

extension LMDBPages {
  /// How much of the map holds pages. Another process may have grown the file beyond this process's map; the memory
  /// behind the map is unrelated.
  static func mappedBytes(_ info: MDB_envinfo, pageSize: Int) -> Int {
    min((info.me_last_pgno + 1) * pageSize, info.me_mapsize)
  }

  /// The leaf that holds `value`, a value in a map.
  ///
  /// A store from another machine can have larger pages than this system, and the map begins at any page of the system.
  /// So the leaf begins at one of several places: the first one at which the bytes are a leaf with this value.
  static func leaf(
    around value: UnsafeRawPointer, pageSize: Int, systemPageSize: Int
  ) -> (start: UnsafeRawPointer, number: UInt64)? {
    let step = min(pageSize, systemPageSize)
    let last = UInt(bitPattern: value) & ~UInt(step - 1)
    for distance in stride(from: pageSize - step, through: 0, by: -step) {
      guard let start = UnsafeRawPointer(bitPattern: last - UInt(distance)) else { return nil }
      let number = start.load(as: UInt64.self)
      if let page = try? LMDBPage(UnsafeRawBufferPointer(start: start, count: pageSize), number: number), page.isLeaf,
        (0..<page.count).contains(where: { page[$0].data.baseAddress == value })
      {
        return (start, number)
      }
    }
    return nil
  }
}
