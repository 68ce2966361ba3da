internal import StorageSPI

/// What the first page of a database says about it, read without SQLite and as far as it is undamaged.
struct SQLiteMarks {
  /// Whether the file starts with the header of an SQLite database.
  let isDatabase: Bool
  private let application: Int?
  private let version: Int?
  private let definitions: Set<String>
  /// The root pages of the table of entries and of its key index.
  let roots: (table: Int, index: Int)

  init(_ pages: SQLitePages) {
    let content = pages.page(1)
    isDatabase = content?.slice(at: 0, 16).map { Array($0) } == Array("SQLite format 3\0".utf8)
    application = content?.number(at: 68, 4)
    version = content?.number(at: 60, 4)
    let cells = content.flatMap { SQLitePage($0, number: 1) }?.cells(in: pages) ?? []
    let objects = cells.compactMap { $0?.record }
    definitions = Set(objects.compactMap { $0.text(4) })
    // Every store has them here, because they are created first.
    roots = (
      Self.root(of: "entries", in: objects) ?? 2, Self.root(of: "sqlite_autoindex_entries_1", in: objects) ?? 3
    )
  }

  private static func root(of name: String, in objects: [SQLiteRecord]) -> Int? {
    objects.first { $0.text(1) == name }?.integer(3).map { Int(clamping: $0) }
  }

  /// The store's version; `nil` if the file does not identify itself as a store, or its marks are damaged.
  ///
  /// The definitions act as a second copy of the version, because each version that changes their meaning changes them.
  /// Marks that disagree with the definitions are damaged.
  var format: Int? {
    guard isDatabase, isMarked, let version else { return nil }
    return SQLiteSchema.readableVersions.contains(Int64(version)) || mayBeLater ? version : nil
  }

  private var isMarked: Bool { application == Int(SQLiteSchema.applicationID) }

  /// Whether the definitions belong to a version that this program reads.
  private var isKnown: Bool { SQLiteSchema.areDefinitions(definitions) }

  /// Whether the file may be a store of a later version.
  private var mayBeLater: Bool {
    version.map { SQLiteSchema.laterVersions.contains(Int64($0)) } ?? false && !isKnown
  }

  /// Throws if the file is a database of another application or of a later version, which this engine must not repair.
  ///
  /// Damaged marks can look the same. In that case the database still contains the definitions of a store, or its
  /// version is one that will never exist.
  func requireStore(_ path: String) throws(CacheError) {
    guard isDatabase else { return }
    guard isMarked || !definitions.isDisjoint(with: SQLiteSchema.allDefinitions) else {
      throw .foreign("is a database of another application", path: path)
    }
    if mayBeLater, let version { throw .laterVersion(version, path: path) }
  }
}
