internal import StorageSPI

/// Replaces a damaged database with the repaired one.
///
/// SQLite applies any log beside a database to it, whichever database that is. So the old log must be gone before the
/// new database arrives, but the old database needs its log until then. Hence the steps:
/// 1. Give the damaged files a second name.
/// 2. Replace the damaged database with a copy that includes the pages of its log. Readers see no change.
/// 3. Remove the log. Readers see no change here either.
/// 4. Replace the copy with the repaired database.
///
/// After a crash between any two steps, the store is either the damaged one or the repaired one.
struct SQLiteExchange {
  let path: String
  let suffix: String
  let pages: SQLitePages
  let observe: () throws(CacheError) -> Void

  /// The path at which the repaired database is built.
  var draft: String { path + "-repaired" }
  private var merged: String { path + "-merged" }

  /// Exchanges the files, and returns the new paths of the damaged ones.
  func run() throws(CacheError) -> [String] {
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
    // Keeps the copy locked up to this point.
    withExtendedLifetime(copy) {}
    return moved
  }

  /// Removes the leftovers of a failed repair.
  func removeDrafts() {
    for file in [draft, merged] {
      for companion in [""] + SQLiteFiles.companions { SQLiteFiles.remove(file + companion) }
    }
  }

  /// Gives the damaged files second names that still match, so that SQLite finds the log of the database.
  private func keepDamaged() throws(CacheError) -> [String] {
    let companions = [""] + SQLiteFiles.companions
    var (number, target) = (1, path + suffix)
    while companions.contains(where: { SQLiteFiles.exists(target + $0) }) {
      number += 1
      target = "\(path)\(suffix)-\(number)"
    }
    let present = companions.filter { SQLiteFiles.exists(path + $0) }
    do throws(CacheError) {
      for companion in present { try SQLiteFiles.link(path + companion, as: target + companion) }
      try synchronizeFolder()
    } catch {
      for companion in present { SQLiteFiles.remove(target + companion) }
      throw error
    }
    return present.map { target + $0 }
  }

  /// Replaces the damaged database with a copy that includes the pages of its log.
  ///
  /// - Returns: the copy, which no one else can open until it is released.
  private func mergeLog() throws(CacheError) -> SQLiteFile {
    try SQLiteFiles.createFile(merged)
    try SQLiteFiles.write(to: merged) { write throws(CacheError) in
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

  private func synchronizeFolder() throws(CacheError) {
    try SQLiteFiles.synchronize(SQLiteFiles.folder(of: path))
  }
}
