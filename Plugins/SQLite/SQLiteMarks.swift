internal import StorageSPI

/// What the first page of a database tells, read without SQLite and as far as it is not damaged.
struct SQLiteMarks {
  /// Whether the file begins as every database does.
  let isDatabase: Bool
  private let application: Int?
  private let version: Int?
  private let definitions: Set<String>
  /// The root pages of the table of entries and of the index of its keys.
  let roots: (table: Int, index: Int)

  init(_ pages: SQLitePages) {
    let content = pages.page(1)
    isDatabase = content?.slice(at: 0, 16).map { Array($0) } == Array("SQLite format 3\0".utf8)
    application = content?.number(at: 68, 4)
    version = content?.number(at: 60, 4)
    let cells = content.flatMap { SQLitePage($0, number: 1) }?.cells(in: pages) ?? []
    let objects = cells.compactMap { $0?.record }
    definitions = Set(objects.compactMap { $0.text(4) })
    // As they are in every store, because they are made first.
    roots = (
      Self.root(of: "entries", in: objects) ?? 2, Self.root(of: "sqlite_autoindex_entries_1", in: objects) ?? 3
    )
  }

  private static func root(of name: String, in objects: [SQLiteRecord]) -> Int? {
    objects.first { $0.text(1) == name }?.integer(3).map { Int(clamping: $0) }
  }

  /// The version of the store; `nil` where the file does not tell that it is one, or its marks are damaged.
  ///
  /// The definitions are the second copy of the version, because each version that changes what they mean changes them:
  /// marks of another version than that of the definitions are damaged.
  var format: Int? {
    guard isDatabase, isMarked, let version else { return nil }
    return SQLiteSchema.readableVersions.contains(Int64(version)) || mayBeLater ? version : nil
  }

  private var isMarked: Bool { application == Int(SQLiteSchema.applicationID) }

  /// Whether the definitions are those of a version that this program reads.
  private var isKnown: Bool { SQLiteSchema.areDefinitions(definitions) }

  /// Whether the store may be one of a later version.
  private var mayBeLater: Bool {
    version.map { SQLiteSchema.laterVersions.contains(Int64($0)) } ?? false && !isKnown
  }

  /// Throws where the file is a database of another application or of a later version, which is not ours to repair.
  ///
  /// Marks that are damaged look just so; then the definitions in the database still are those of a store, or the version
  /// is one that there will not be.
  func requireStore(_ path: String) throws(StorageError) {
    guard isDatabase else { return }
    guard isMarked || !definitions.isDisjoint(with: SQLiteSchema.allDefinitions) else {
      throw .foreign("is a database of another application", path: path)
    }
    if mayBeLater, let version { throw .laterVersion(version, path: path) }
  }
}
