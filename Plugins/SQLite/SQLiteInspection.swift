internal import StorageSPI

extension StoreInspection {
  /// What there is at the path of `options`. SQLite reads nothing of it, so that it makes no log.
  init(_ options: SQLiteOptions) throws(StorageError) {
    let path = options.path
    let files = ([""] + SQLiteFiles.companions).map { path + $0 }.filter(SQLiteFiles.exists)
    let isStore = try SQLiteFiles.isRegularFile(path)
    let format = isStore ? SQLiteMarks(try SQLitePages(SQLiteFile(path), log: path + "-wal")).format : nil
    let damage = try isStore ? SQLiteLogDamage.found(at: path, .certain) : nil
    self.init(
      path: path, files: isStore ? files : [], format: format, currentFormat: Int(SQLiteSchema.version),
      hiddenDamage: damage)
  }
}
