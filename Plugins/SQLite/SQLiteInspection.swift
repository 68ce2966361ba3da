internal import StorageSPI

extension StoreInspection {
  /// Inspects the path of `options` without SQLite, which would create a log.
  init(_ options: SQLiteOptions) throws(CacheError) {
    let path = options.path
    let files = ([""] + SQLiteFiles.companions).map { path + $0 }.filter(SQLiteFiles.exists)
    let isStore = try SQLiteFiles.storeMayExist(at: path)
    let pages = isStore ? try SQLitePages(SQLiteFile(path), log: path + "-wal") : nil
    let damage = if let pages { try SQLiteLogDamage.found(at: path, .certain, in: pages.log) } else { String?.none }
    self.init(
      path: path, files: isStore ? files : [], format: pages.flatMap { SQLiteMarks($0).format },
      currentFormat: Int(SQLiteSchema.version),
      hiddenDamage: damage)
  }
}
