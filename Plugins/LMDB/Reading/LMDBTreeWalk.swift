internal import CLMDB
internal import Platform
internal import StorageSPI
internal import Synchronization

/// Visits the entries of a namespace in key order, and checks every page before it reads it.
///
/// LMDB trusts its pages: its own cursor ends the process at a leaf that is none, and opening a store checks the leaves
/// of a small one only (see `LMDBTreeCheck`). So whatever lists entries goes through the mapped pages itself.
struct LMDBTreeWalk {
  /// An entry: its stored key and its value, in place.
  typealias Item = LMDBCursor.Item

  private let environment: LMDBEnvironment
  private let pages: LMDBPages
  private let root: LMDBTreeRecord
  /// The way from the root to the current entry.
  private var path: [(page: LMDBPage, index: Int)] = []
  private var last: UnsafeRawBufferPointer?

  fileprivate init(_ root: LMDBTreeRecord, _ pages: LMDBPages, _ environment: LMDBEnvironment) {
    (self.root, self.pages, self.environment) = (root, pages, environment)
  }

  /// The first entry whose stored key is `key` or greater.
  ///
  /// - Throws: `damaged`, also from `next`, if a page on the way is.
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

  /// Checks the leaf in which `key` belongs, and the leaves on both sides of it, which LMDB joins it with once too little
  /// is left in it.
  ///
  /// - Throws: `damaged`.
  mutating func requireSoundLeaves(around key: UnsafeRawBufferPointer) throws(CacheError) {
    try checking { walk throws(LMDBFault) in
      try walk.descend(to: key)
      guard let (parent, index) = walk.path.dropLast().last else { return }
      for neighbor in [index - 1, index + 1] where (0..<parent.count).contains(neighbor) {
        _ = try walk.page(parent[neighbor].child, isLeaf: true)
      }
    }
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
    let page = try pages.page(number)
    guard page.isLeaf == isLeaf, page.count > 0 else {
      throw .damaged("page \(number) is on the wrong level, or empty")
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

  /// Keys must ascend, or a listing that goes on after the last key could go round in circles.
  private mutating func item(_ node: LMDBNode) throws(LMDBFault) -> Item {
    guard (1...LMDBKeyCoding.shortenedSize).contains(node.key.count), node.flags & ~LMDBNode.Flag.overflow == 0,
      last.map({ byteOrder($0, node.key) < 0 }) ?? true
    else { throw .damaged("a page holds a key that cannot be there") }
    last = node.key
    return (node.key, node.flags == 0 ? node.data : try pages.overflowValue(of: node).value)
  }
}

extension LMDBTransaction {
  /// A walk through the entries of `namespace` in the state that this transaction reads; `nil` if there are none. The
  /// transaction must be one that only reads: a writer's pages are not all in the map.
  func walk(through namespace: LMDBNamespace) throws(CacheError) -> LMDBTreeWalk? {
    let record = try Array(namespace.name.utf8).span.withUnsafeBytes { name throws(CacheError) in
      try value(name, in: LMDBEnvironment.mainDatabase)
    }
    guard let record, record.count == LMDBTreeRecord.size, let pages = try mappedPages() else { return nil }
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

  /// The map's pages; `nil` if the store is empty.
  ///
  /// LMDB does not say where its map begins. Any page tells, because its first eight bytes are its number.
  func mappedPages() throws(CacheError) -> LMDBPages? {
    try withCursor(on: LMDBEnvironment.mainDatabase) { cursor throws(CacheError) in
      guard let key = try cursor.first()?.key.baseAddress else { return nil }
      var (stat, info) = (MDB_stat(), MDB_envinfo())
      mdb_env_stat(environment.pointer, &stat)
      mdb_env_info(environment.pointer, &info)
      let size = Int(stat.ms_psize)
      guard let page = UnsafeRawPointer(bitPattern: UInt(bitPattern: key) & ~UInt(size - 1)) else { return nil }
      let start = page - Int(page.load(as: UInt64.self)) * size
      let bytes = UnsafeRawBufferPointer(start: start, count: LMDBPages.mappedBytes(info, pageSize: size))
      return LMDBPages(bytes: bytes, size: size)
    }
  }
}

extension LMDBPages {
  /// How much of the map holds pages. Another process may just have written beyond the map, where this process's memory
  /// holds something else.
  static func mappedBytes(_ info: MDB_envinfo, pageSize: Int) -> Int {
    min((info.me_last_pgno + 1) * pageSize, info.me_mapsize)
  }
}
