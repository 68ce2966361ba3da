internal import StorageSPI

/// Finds the entries of a damaged database.
///
/// The table is walked first, and what is reached so is taken. Then the index of keys tells what is missing. Only if
/// something is, or the index is damaged too, are the pages searched that neither tree reaches: a page that was given up
/// long ago may still hold an entry that was removed since.
struct SQLiteSalvage {
  private let pages: SQLitePages
  private let plan: RepairPlan
  private let free: Set<Int>
  private let save: (SQLiteEntry) throws(StorageError) -> Bool

  private var visited: Set<Int> = []
  /// The pages that a tree reaches and the list of free pages names: one of the two is wrong.
  private var disputed: Set<Int> = []
  private var savedRows: Set<Int64> = []
  /// The keys of rows that can be read and are not sound, by row.
  private var unsound: [Int64: CacheKey] = [:]
  /// The rows that are not sound and whose keys cannot be read; what the index knows of them is in `missing`.
  private var unnamed: Set<Int64> = []
  private var missing: Set<CacheKey> = []
  private var isTableDamaged = false
  private var isIndexDamaged = false

  /// - Parameter save: keeps an entry, and says whether there was none of its key.
  init(_ pages: SQLitePages, _ plan: RepairPlan, save: @escaping (SQLiteEntry) throws(StorageError) -> Bool) {
    (self.pages, self.plan, self.save) = (pages, plan, save)
    free = pages.free()
  }

  /// Saves what can be saved.
  ///
  /// - Parameter has: whether an entry of the key was saved.
  /// - Returns: what was lost.
  mutating func run(
    roots: (table: Int, index: Int), has: (CacheKey) throws(StorageError) -> Bool
  ) throws(StorageError) -> [IntegrityIssue] {
    try saveTable(roots.table)
    try compareIndex(roots.index, has)
    if isTableDamaged || isIndexDamaged || !missing.isEmpty { try saveUnreached() }
    return try lost(has)
  }

  private mutating func saveTable(_ root: Int) throws(StorageError) {
    for leaf in pagesWithCells(below: root, .tableLeaf, .tableInterior, isDamaged: \.isTableDamaged) {
      for cell in cells(of: leaf) {
        guard let cell else {
          isTableDamaged = true
          continue
        }
        try take(cell)
      }
    }
  }

  private mutating func take(_ cell: SQLitePage.Cell) throws(StorageError) {
    guard let entry = SQLiteEntry(cell.record), plan.isSound(entry.key, entry.payload.span, entry.metadata) else {
      isTableDamaged = true
      if let key = cell.record.key(0) { unsound[cell.row] = key } else { unnamed.insert(cell.row) }
      return
    }
    if try save(entry) { savedRows.insert(cell.row) }
  }

  /// Notes the keys that the index has and the table had not.
  private mutating func compareIndex(
    _ root: Int, _ has: (CacheKey) throws(StorageError) -> Bool
  ) throws(StorageError) {
    var count = 0
    for page in pagesWithCells(below: root, .indexLeaf, .indexInterior, isDamaged: \.isIndexDamaged) {
      for cell in cells(of: page) {
        count += 1
        guard let cell, let key = cell.record.key(0), let row = cell.record.integer(1) else {
          isIndexDamaged = true
          continue
        }
        unnamed.remove(row)
        // The index is that of a row that was saved under another key: then it is the index that is damaged.
        guard savedRows.contains(row) else {
          missing.insert(key)
          continue
        }
        if try !has(key) { isIndexDamaged = true }
      }
    }
    if count < savedRows.count { isIndexDamaged = true }
  }

  /// Saves entries of pages that no tree reaches. Where the index can be trusted, they are those that it misses.
  private mutating func saveUnreached() throws(StorageError) {
    for number in 1...max(1, pages.count) where !visited.contains(number) {
      guard !free.contains(number) || (disputed.contains(number) && !isIndexDamaged) else { continue }
      guard let page = page(number), page.kind == .tableLeaf else { continue }
      for case let cell? in page.cells(in: pages) {
        guard let entry = SQLiteEntry(cell.record), isIndexDamaged || missing.contains(entry.key),
          plan.isSound(entry.key, entry.payload.span, entry.metadata)
        else { continue }
        if try save(entry) { savedRows.insert(cell.row) }
      }
    }
  }

  private func lost(_ has: (CacheKey) throws(StorageError) -> Bool) throws(StorageError) -> [IntegrityIssue] {
    var (issues, keys) = ([IntegrityIssue](), missing)
    for key in unsound.values { keys.insert(key) }
    for key in keys.sorted() {
      if try has(key) { continue }
      issues.append(IntegrityIssue(key: key, kind: .undecodable, message: "entry \(key) cannot be read back"))
    }
    return issues
      + unnamed.subtracting(savedRows).sorted().map { row in
        IntegrityIssue(kind: .undecodable, message: "row \(row) has no valid key, and cannot be read back")
      }
  }

  /// The numbers of the pages below `root` that hold cells, as far as they can be reached.
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
