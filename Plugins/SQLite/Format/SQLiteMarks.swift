internal import EngineSupport
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
    isDatabase = content.map(Self.isDatabase) ?? false
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

  /// Throws unless the file at `path` is a store of this engine, damaged or not. Cost: reading a few bytes; for a file
  /// that does not begin as a store does, reading its log.
  static func requireOwn(_ path: String) throws(CacheError) {
    let file = try SQLiteFile(path)
    let header = SQLiteBytes(file.bytes(at: 0, 72) ?? [])
    if isDatabase(header), header.number(at: 68, 4) == Int(SQLiteSchema.applicationID) { return }
    try SQLiteMarks(SQLitePages(file, log: path + "-wal")).requireOwn(path)
  }

  /// The same for the file of these marks.
  ///
  /// If its own marks are damaged, the file is a store because it still contains definitions of a store, or because of
  /// the mark next to it. The definitions of another application count for more than that one.
  func requireOwn(_ path: String) throws(CacheError) {
    guard !isMarked, definitions.isDisjoint(with: SQLiteSchema.allDefinitions) else { return }
    guard !isDatabase || definitions.isEmpty, StoreMark(ofFile: path).isPresent else {
      throw isDatabase
        ? .foreign(application ?? 0, path: path)
        : .notAStore(path, "it is a file of another kind")
    }
  }

  /// Throws unless the file is a store that this engine may repair: not one of a later version either. Damaged marks can
  /// look the same, but the version is then one that will never exist.
  func requireStore(_ path: String) throws(CacheError) {
    try requireOwn(path)
    if isDatabase, mayBeLater, let version { throw .laterVersion(version, path: path) }
  }

  private static func isDatabase(_ content: SQLiteBytes) -> Bool {
    content.slice(at: 0, 16).map { Array($0) } == Array("SQLite format 3\0".utf8)
  }
}
