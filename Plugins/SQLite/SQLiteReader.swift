internal import CSQLite
internal import StorageSPI

/// A connection that only reads, with its prepared statement.
///
/// It is `@unchecked Sendable` because the pool that keeps it gives it to one caller at a time, and a connection without
/// thread affinity may be used by any thread then.
final class SQLiteReader: @unchecked Sendable {
  private let connection: SQLiteConnection
  private let statement: SQLiteStatement
  private var row = SQLiteRow()

  /// A connection to the store at `path`, after a check that it is one.
  init(path: String, busyTimeout: Int32) throws(StorageError) {
    let connection = try Self.connect(path: path, busyTimeout: busyTimeout)
    self.statement = try SQLiteStatement(SQLiteSchema.read, on: connection)
    self.connection = connection
  }

  private static func connect(path: String, busyTimeout: Int32) throws(StorageError) -> SQLiteConnection {
    do throws(StorageError) {
      return try connect(path: path, busyTimeout: busyTimeout, immutable: false)
    } catch {
      // On a medium where the log's index cannot be made, the file alone is the whole store if the log is empty.
      guard [.permissionDenied, .ioFailed].contains(error.code), SQLiteFiles.size(of: path + "-wal") == 0 else {
        throw error
      }
      return try connect(path: path, busyTimeout: busyTimeout, immutable: true)
    }
  }

  private static func connect(
    path: String, busyTimeout: Int32, immutable: Bool
  ) throws(StorageError) -> SQLiteConnection {
    let connection = try SQLiteConnection(
      path: path, flags: SQLITE_OPEN_READONLY, busyTimeout: busyTimeout, immutable: immutable)
    // Mapping a gibibyte costs address space only; pages beyond it are read in the ordinary way.
    try connection.execute("PRAGMA mmap_size = 1073741824")
    try SQLiteSchema.verify(connection)
    return connection
  }

  /// Lends the payload and metadata under `key` to `body`; `nil` where there is no entry.
  func read<Output>(
    _ key: CacheKey, _ body: (Span<UInt8>, EntryMetadata) throws(StorageError) -> Output
  ) throws(StorageError) -> Output? {
    try key.text.withBytes { bytes throws(StorageError) -> Output? in
      defer { statement.reset() }
      try statement.bind(bytes, at: 1)
      guard try statement.step() else { return nil }
      let metadata = try row.metadata(of: statement, key: key.text)
      return try body(try SQLiteRow.payload(of: statement, key: key.text).span, metadata)
    }
  }

  /// The first `limit` entries of `range`, without payloads.
  func scan(_ range: KeyRange, limit: Int) throws(StorageError) -> [EntrySummary] {
    // Keys consist of bytes from 0x21 to 0x7E: nothing lies between a key and the same with the byte 0x01 added, and
    // all that begins with the prefix lies before the prefix with 0x7F added.
    let lower = max(range.prefix, range.after.map { $0.text + "\u{01}" } ?? "")
    return try lower.withBytes { lower throws(StorageError) in
      try (range.prefix + "\u{7F}").withBytes { upper throws(StorageError) in
        let statement = try SQLiteStatement(SQLiteSchema.scan, on: connection)
        try statement.bind(lower, at: 1)
        try statement.bind(upper, at: 2)
        try statement.bind(Int64(limit), at: 3)
        var entries: [EntrySummary] = []
        while try statement.step() { entries.append(try summary(of: statement)) }
        return entries
      }
    }
  }

  private func summary(of statement: borrowing SQLiteStatement) throws(StorageError) -> EntrySummary {
    let key = try Self.key(of: statement, column: SQLiteRow.firstOwnColumn)
    let metadata = try row.metadata(of: statement, key: key.text)
    return EntrySummary(key: key, metadata: metadata, payloadBytes: SQLiteRow.payloadBytes(of: statement))
  }

  /// How much the store holds.
  func tally() throws(StorageError) -> EntryTally {
    let statement = try SQLiteStatement(SQLiteSchema.tally, on: connection)
    var tally = EntryTally()
    while try statement.step() {
      let slot = EntryTally.Slot(
        namespace: String(decoding: statement.bytes(0), as: UTF8.self), freshSlot: statement.integer(1),
        retainSlot: statement.integer(2))
      tally.add(
        EntryTally.Count(entries: Int(statement.integer(3)), payloadBytes: Int(statement.integer(4))), to: slot)
    }
    return tally
  }

  /// What is wrong with the file and its rows.
  func checkIntegrity() throws(StorageError) -> [IntegrityIssue] {
    try issuesOfStructure() + issuesOfEntries()
  }

  private func issuesOfStructure() throws(StorageError) -> [IntegrityIssue] {
    try collectingDamage { issues throws(StorageError) in
      let statement = try SQLiteStatement("PRAGMA integrity_check", on: connection)
      while try statement.step() {
        let message = String(decoding: statement.bytes(0), as: UTF8.self)
        if message != "ok" { issues.append(IntegrityIssue(kind: .structure, message: Self.oneLine(message))) }
      }
    }
  }

  private func issuesOfEntries() throws(StorageError) -> [IntegrityIssue] {
    try collectingDamage { issues throws(StorageError) in
      let statement = try SQLiteStatement(SQLiteSchema.everything, on: connection)
      while try statement.step() {
        if let issue = issue(of: statement) { issues.append(issue) }
      }
    }
  }

  /// What is wrong with the row that `statement` is at; `nil` where nothing is.
  private func issue(of statement: borrowing SQLiteStatement) -> IntegrityIssue? {
    var key: CacheKey?
    do throws(StorageError) {
      let found = try Self.key(of: statement, column: SQLiteRow.firstOwnColumn + 1)
      key = found
      _ = try row.metadata(of: statement, key: found.text)
      _ = try SQLiteRow.payload(of: statement, key: found.text)
      guard statement.text(SQLiteRow.firstOwnColumn + 2) == found.namespace else {
        throw .undecodable("its namespace is another", key: found.text, path: connection.path)
      }
      return nil
    } catch {
      return IntegrityIssue(key: key, kind: .undecodable, message: error.message)
    }
  }

  /// The issues that `find` adds, and one more where the damage kept it from going on.
  private func collectingDamage(
    _ find: (inout [IntegrityIssue]) throws(StorageError) -> Void
  ) throws(StorageError) -> [IntegrityIssue] {
    var issues: [IntegrityIssue] = []
    do throws(StorageError) {
      try find(&issues)
    } catch {
      guard error.code == .damaged else { throw error }
      issues.append(IntegrityIssue(kind: .structure, message: error.message))
    }
    return issues
  }

  private static func oneLine(_ text: String) -> String {
    text.split(separator: "\n").joined(separator: "; ")
  }

  private static func key(
    of statement: borrowing SQLiteStatement, column: Int32
  ) throws(StorageError) -> CacheKey {
    do throws(StorageError) {
      return try CacheKey(String(decoding: statement.bytes(column), as: UTF8.self))
    } catch {
      throw .undecodable(error.message, key: "without a valid key", path: statement.connection.path)
    }
  }
}
