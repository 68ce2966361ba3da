internal import StorageSPI

/// Puts a repaired database in the place of a damaged one.
///
/// A log beside a database is applied to it, whatever database that is. So the old log must be gone before the new
/// database comes, and the old database must not be without it before. Hence the steps: give the damaged files a second
/// name; put a copy of the damaged database that has its log applied in its place, which changes nothing for a reader;
/// remove the log, which changes nothing either then; and put the repaired database in the place of the copy. After a
/// crash between any two of them the store is the damaged one or the repaired one.
struct SQLiteExchange {
  let path: String
  let suffix: String
  let pages: SQLitePages
  let observe: () throws(StorageError) -> Void

  /// Where the repaired database is made.
  var draft: String { path + "-repaired" }
  private var merged: String { path + "-merged" }

  /// Exchanges the files, and returns the new names of the damaged ones.
  func run() throws(StorageError) -> [String] {
    for companion in SQLiteFiles.companions { SQLiteFiles.remove(draft + companion) }
    try SQLiteFiles.synchronize(draft)
    try observe()
    let moved = try keepDamaged()
    try observe()
    let copy = pages.log.offsets.isEmpty ? nil : try mergeLog()
    for companion in SQLiteFiles.companions { SQLiteFiles.remove(path + companion) }
    try synchronizeFolder()
    try observe()
    try SQLiteFiles.rename(draft, to: path)
    try synchronizeFolder()
    try observe()
    // Until here the copy was locked.
    withExtendedLifetime(copy) {}
    return moved
  }

  /// Removes what is left of a repair that failed.
  func removeDrafts() {
    for file in [draft, merged] {
      for companion in [""] + SQLiteFiles.companions { SQLiteFiles.remove(file + companion) }
    }
  }

  /// Gives the damaged files a second name, by which SQLite still finds the log to its database.
  private func keepDamaged() throws(StorageError) -> [String] {
    let companions = [""] + SQLiteFiles.companions
    var (number, target) = (1, path + suffix)
    while companions.contains(where: { SQLiteFiles.exists(target + $0) }) {
      number += 1
      target = "\(path)\(suffix)-\(number)"
    }
    let present = companions.filter { SQLiteFiles.exists(path + $0) }
    do throws(StorageError) {
      for companion in present { try SQLiteFiles.link(path + companion, as: target + companion) }
      try synchronizeFolder()
    } catch {
      for companion in present { SQLiteFiles.remove(target + companion) }
      throw error
    }
    return present.map { target + $0 }
  }

  /// Puts a copy of the damaged database with the pages of its log in its place.
  ///
  /// - Returns: the copy, which nobody else can open until it is let go.
  private func mergeLog() throws(StorageError) -> SQLiteFile {
    try SQLiteFiles.createFile(merged)
    try SQLiteFiles.write(to: merged) { write throws(StorageError) in
      for number in 1...max(1, pages.count) {
        try write(pages.page(number)?.bytes ?? [UInt8](repeating: 0, count: pages.pageSize))
      }
    }
    let copy = try SQLiteFile.locked(merged, timeout: 0)
    try SQLiteFiles.rename(merged, to: path)
    try synchronizeFolder()
    try observe()
    return copy
  }

  private func synchronizeFolder() throws(StorageError) {
    try SQLiteFiles.synchronize(SQLiteFiles.folder(of: path))
  }
}
