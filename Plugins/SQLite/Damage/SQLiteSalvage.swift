internal import StorageSPI

/// Finds the entries of a damaged database.
///
/// It walks the table first and saves what it reaches. Then the index of keys tells what is missing. It searches the
/// pages that neither tree reaches only if something is missing or the index is damaged too: a page that was freed long
/// ago may still hold an entry that was removed since.
struct SQLiteSalvage {
  private let pages: SQLitePages
  private let plan: RepairPlan
  private let free: Set<Int>
  private let isFreeListDamaged: Bool
  private let save: (SQLiteEntry) throws(CacheError) -> Bool

  private var visited: Set<Int> = []
  /// The pages that are both reached by a tree and listed as free: one of the two is wrong.
  private var disputed: Set<Int> = []
  private var savedRows: Set<Int64> = []
  /// The damaged rows with their locations, and their keys if readable.
  private var unsound: [Int64: (key: CacheKey?, page: Int, cell: Int)] = [:]
  private var missing: Set<CacheKey> = []
  private var isTableDamaged = false
  private var isIndexDamaged = false
  private var mayHaveRevived = false

  /// The problems found.
  struct Findings {
    var lost: [IntegrityIssue] = []
    var mended: [IntegrityIssue] = []
  }

  /// - Parameter save: saves an entry, and returns whether its key was new.
  init(_ pages: SQLitePages, _ plan: RepairPlan, save: @escaping (SQLiteEntry) throws(CacheError) -> Bool) {
    (self.pages, self.plan, self.save) = (pages, plan, save)
    let free = pages.free()
    (self.free, isFreeListDamaged) = (free ?? [], free == nil)
  }

  /// Saves what it can.
  ///
  /// - Parameter has: whether an entry with the key was saved.
  /// - Returns: what was lost, and the damage that cost nothing.
  mutating func run(
    roots: (table: Int, index: Int), has: (CacheKey) throws(CacheError) -> Bool
  ) throws(CacheError) -> Findings {
    try saveTable(roots.table)
    try compareIndex(roots.index, has)
    if isTableDamaged || isIndexDamaged || !missing.isEmpty { try saveUnreached() }
    return try findings(has)
  }

  private mutating func saveTable(_ root: Int) throws(CacheError) {
    for leaf in pagesWithCells(below: root, .tableLeaf, .tableInterior, isDamaged: \.isTableDamaged) {
      for (number, cell) in cells(of: leaf).enumerated() {
        if let cell, try take(SQLiteEntry(cell.record), row: cell.row) { continue }
        isTableDamaged = true
        if let cell { unsound[cell.row] = (cell.record.key(0), leaf, number) }
      }
    }
  }

  /// Saves an entry, and returns whether it is sound.
  private mutating func take(_ entry: SQLiteEntry?, row: Int64) throws(CacheError) -> Bool {
    guard let entry, plan.isSound(entry.key, entry.payload.span, entry.metadata) else { return false }
    if try save(entry) { savedRows.insert(row) }
    return true
  }

  /// Saves a row whose only damage is its key, using the key from the index.
  private mutating func takeUnsound(_ row: Int64, by key: CacheKey) throws(CacheError) {
    guard let place = unsound[row] else { return }
    // If the row's key is damaged, trust the index.
    unsound[row] = nil
    let cells = cells(of: place.page)
    guard place.cell < cells.count, let record = cells[place.cell]?.record else { return }
    _ = try take(SQLiteEntry(record, key: key), row: row)
  }

  /// Collects the keys that are in the index but were not in the table.
  private mutating func compareIndex(
    _ root: Int, _ has: (CacheKey) throws(CacheError) -> Bool
  ) throws(CacheError) {
    var count = 0
    for page in pagesWithCells(below: root, .indexLeaf, .indexInterior, isDamaged: \.isIndexDamaged) {
      for cell in cells(of: page) {
        count += 1
        guard let cell, let key = cell.record.key(0), let row = cell.record.integer(1) else {
          isIndexDamaged = true
          continue
        }
        try takeUnsound(row, by: key)
        // The row was saved under another key than the index has: then the index is damaged.
        guard savedRows.contains(row) else {
          missing.insert(key)
          continue
        }
        if try !has(key) { isIndexDamaged = true }
      }
    }
    if count < savedRows.count { isIndexDamaged = true }
  }

  /// Saves entries from pages that no tree reaches. If the index is trustworthy, they are the ones that it lists as
  /// missing.
  private mutating func saveUnreached() throws(CacheError) {
    for number in 1...max(1, pages.count) where !visited.contains(number) {
      guard !free.contains(number) || disputed.contains(number) else { continue }
      guard let page = page(number), page.kind == .tableLeaf else { continue }
      for case let cell? in page.cells(in: pages) {
        guard let entry = SQLiteEntry(cell.record), isIndexDamaged || missing.contains(entry.key),
          plan.isSound(entry.key, entry.payload.span, entry.metadata)
        else { continue }
        guard try save(entry) else { continue }
        savedRows.insert(cell.row)
        if isIndexDamaged, isFreeListDamaged || disputed.contains(number) { mayHaveRevived = true }
      }
    }
  }

  private func findings(_ has: (CacheKey) throws(CacheError) -> Bool) throws(CacheError) -> Findings {
    var (findings, keys) = (Findings(), missing)
    for row in unsound.values { if let key = row.key { keys.insert(key) } }
    for key in keys.sorted() {
      if try has(key) { continue }
      findings.lost.append(IntegrityIssue(key: key, kind: .undecodable, message: "entry \(key) cannot be read back"))
    }
    for row in unsound.filter({ $0.value.key == nil }).keys.sorted() where !savedRows.contains(row) {
      findings.lost.append(
        IntegrityIssue(kind: .undecodable, message: "row \(row) has no valid key, and cannot be read back"))
    }
    func note(_ message: String, in issues: WritableKeyPath<Findings, [IntegrityIssue]>) {
      findings[keyPath: issues].append(IntegrityIssue(kind: .structure, message: message))
    }
    switch (isTableDamaged, isIndexDamaged) {
    case (true, true): note("the table and its index are damaged: entries may be lost that neither names", in: \.lost)
    case (true, false): note("the table of entries is damaged: its index names them all", in: \.mended)
    case (false, true): note("the index of keys is damaged: the table has all entries", in: \.mended)
    case (false, false): break
    }
    if mayHaveRevived { note("the list of free pages is damaged: removed entries may have come back", in: \.lost) }
    return findings
  }

  /// The numbers of the reachable pages below `root` that hold cells.
  private mutating func pagesWithCells(
    below root: Int, _ leaf: SQLitePage.Kind, _ interior: SQLitePage.Kind, isDamaged: WritableKeyPath<Self, Bool>
  ) -> [Int] {
    var (pending, found) = ([root], [Int]())
    while let number = pending.popLast() {
      guard !free.contains(number) else {
        self[keyPath: isDamaged] = true
        disputed.insert(number)
        continue
      }
      guard visited.insert(number).inserted, let page = page(number),
        page.kind == leaf || page.kind == interior
      else {
        self[keyPath: isDamaged] = true
        continue
      }
      pending += page.children.reversed()
      if page.kind != .tableInterior { found.append(number) }
    }
    return found
  }

  private func page(_ number: Int) -> SQLitePage? {
    pages.page(number).flatMap { SQLitePage($0, number: number) }
  }

  private func cells(of number: Int) -> [SQLitePage.Cell?] { page(number)?.cells(in: pages) ?? [nil] }
}
