internal import StorageSPI

/// The pages of a database and its log, both of which may be damaged. "Database File Format" in SQLite's documentation
/// describes everything that is read here.
final class SQLitePages {
  /// The page size, and the usable part of it, in bytes.
  let (pageSize, usableSize): (Int, Int)
  /// The number of pages; numbering starts at 1.
  let count: Int
  let log: SQLiteLog
  private let file: SQLiteFile
  private let logFile: SQLitePlainFile?

  init(_ file: SQLiteFile, log path: String) throws(CacheError) {
    let log = try SQLiteLog(path)
    (pageSize, usableSize) = Self.sizes(file, log)
    count = log.pageCount > 0 ? log.pageCount : (file.size + pageSize - 1) / pageSize
    self.file = file
    self.log = log
    logFile = try SQLitePlainFile(path)
  }

  /// Whether `size` bytes is a valid page size.
  static func isPageSize(_ size: Int) -> Bool { (512...65_536).contains(size) && size & (size - 1) == 0 }

  /// The sizes from the log and the header; if those are damaged, SQLite's defaults.
  private static func sizes(_ file: SQLiteFile, _ log: SQLiteLog) -> (Int, Int) {
    let header = SQLiteBytes(file.bytes(at: 0, 100) ?? [])
    // 1 means 65,536.
    let told = header.number(at: 16, 2).map { $0 == 1 ? 65_536 : $0 } ?? 0
    let sizes = [log.pageSize, told, 4_096].filter(isPageSize)
    let size = sizes.first { $0 == log.pageSize || isTable(file, at: $0) } ?? sizes.first ?? 4_096
    // If nothing is reserved at the end of the first page, the text of the schema is there.
    let reserved = header.number(at: 20, 1) ?? 0
    let isReserved = file.bytes(at: size - reserved, reserved)?.allSatisfy { $0 == 0 } ?? false
    return (size, isReserved ? size - reserved : size)
  }

  /// Whether a table page starts at `offset`, as the second page of each store does.
  private static func isTable(_ file: SQLiteFile, at offset: Int) -> Bool {
    let kind = file.bytes(at: offset, 1).flatMap { SQLitePage.Kind(rawValue: $0[0]) }
    return kind == .tableLeaf || kind == .tableInterior
  }

  /// The page with the number `number`; `nil` if it does not exist or cannot be read.
  func page(_ number: Int) -> SQLiteBytes? {
    guard (1...max(1, count)).contains(number) else { return nil }
    let bytes =
      if let offset = log.offsets[number] {
        (try? logFile?.bytes(at: offset, pageSize)) ?? nil
      } else {
        bytesInFile(of: number)
      }
    return bytes.map { SQLiteBytes($0) }
  }

  /// The page in the file. If the file ends within it, SQLite reads zeros, and may still find an entry in it. The first
  /// page needs its header: zeros there would look like another application's marks.
  private func bytesInFile(of number: Int) -> [UInt8]? {
    let start = (number - 1) * pageSize
    let count = min(pageSize, file.size - start)
    guard number > 1 || count >= 100 else { return nil }
    return file.bytes(at: start, count).map { $0 + [UInt8](repeating: 0, count: pageSize - count) }
  }

  /// The numbers of the free pages; `nil` if the list is not as long as the header says.
  func free() -> Set<Int>? {
    let header = page(1)
    var (trunk, free) = (header?.number(at: 32, 4) ?? 0, Set<Int>())
    while trunk > 0, free.insert(trunk).inserted, let page = page(trunk), let leaves = page.number(at: 4, 4) {
      for leaf in 0..<max(0, min(leaves, usableSize / 4 - 2)) {
        if let leaf = page.number(at: 8 + 4 * leaf, 4) { free.insert(leaf) }
      }
      trunk = page.number(at: 0, 4) ?? 0
    }
    return free.count == header?.number(at: 36, 4) ? free : nil
  }
}
