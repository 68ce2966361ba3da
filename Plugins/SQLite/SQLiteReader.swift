internal import CSQLite
internal import EngineAPI
internal import CacheBase

/// Reads through a connection, and can keep its read transaction open.
///
/// `@unchecked Sendable`: one caller uses it at a time, and a connection without thread affinity can move between
/// threads.
final class SQLiteReader: SnapshotHolding, @unchecked Sendable {
  let connection: SQLiteConnection
  var snapshot: SQLiteSnapshot
  private var row = SQLiteRow()
  private let finding: SQLiteStatement
  /// The statement of the last scan: evictions scan a few entries at a time, again and again.
  private var listing: (query: String, statement: SQLiteStatement)?

  /// Reads through `connection`.
  init(on connection: SQLiteConnection, _ keeper: SnapshotKeeper) throws(CacheError) {
    self.connection = connection
    finding = try SQLiteStatement(SQLiteSchema.read, on: connection)
    snapshot = SQLiteSnapshot(of: connection, keeper)
  }

  /// A connection for reading, after checking that it leads to a store.
  static func connect(_ options: SQLiteOptions, immutable: Bool = false) throws(CacheError) -> SQLiteConnection {
    do throws(CacheError) {
      let connection = try SQLiteConnection(
        path: options.path, flags: SQLITE_OPEN_READONLY, busyTimeout: options.busyTimeout, immutable: immutable)
      try connection.mapFile()
      // SQLite then also reads a file that is shorter than it should be.
      if options.isForRepair { try connection.execute("PRAGMA writable_schema = ON") }
      try SQLiteSchema.verify(connection)
      return connection
    } catch {
      // If the medium does not allow to create the log's index, the file alone is the whole store if the log is empty.
      // If it failed only for a temporary reason, such as too many open files, the store might still change at any
      // moment.
      guard !immutable, [.permissionDenied, .ioFailed].contains(error.code),
        SQLiteFiles.size(of: options.path + "-wal") == 0, access(SQLiteFiles.folder(of: options.path), W_OK) != 0
      else { throw error }
      return try connect(options, immutable: true)
    }
  }

  /// Whether the read transaction stays open between reads.
  var isKept: Bool { snapshot.isKept }

  func endKeptSnapshot() { snapshot.end() }

  /// Gives mapped pages back to the system.
  func releaseMemory() throws(CacheError) {
    snapshot.end()
    try connection.execute("PRAGMA mmap_size = 0")
    try connection.mapFile()
  }

  /// Lends the payload and metadata under `key` in the latest state to `body`; `nil` if there is no entry.
  @inline(__always)
  func read<Output>(
    _ key: UnsafeBufferPointer<UInt8>, _ body: (Span<UInt8>, EntryMetadata) throws(CacheError) -> Output
  ) throws(CacheError) -> Output? {
    try snapshot.begin()
    defer { finding.reset() }
    try finding.bind(key, at: 1)
    var output: Output?
    if try finding.step() {
      let (metadata, payload) = try row.entry(of: finding, key: String(decoding: key, as: UTF8.self))
      output = try body(payload.span, metadata)
    }
    try snapshot.stay()
    return output
  }

  /// A page of the latest state. If it would begin with a row that cannot be read, the error names the row's key as long as
  /// the index of keys has it.
  func scan(_ request: ScanRequest) throws(CacheError) -> ScanPage {
    let query = SQLiteSchema.scan(payloads: request.includesPayloads, isDescending: request.isDescending)
    let known = listing?.query == query ? listing?.statement : nil
    let statement = if let known { known } else { try SQLiteStatement(query, on: connection) }
    listing = (query, statement)
    do throws(CacheError) {
      return try ScanPage(request) { page throws(CacheError) in
        try snapshot.begin()
        defer { statement.reset() }
        try statement.bind(request, limit: page.wanted)
        while try statement.step() {
          let key = try SQLiteRow.key(of: statement)
          let (metadata, payload) = try row.entry(of: statement, key: key.text)
          let size = SQLiteRow.payloadBytes(of: statement)
          guard page.add(key, metadata, payloadBytes: size, payload: Array(payload)) else { break }
        }
        try snapshot.stay()
      }
    } catch {
      guard error.code == .damaged else { throw error }
      throw try naming(request, in: error)
    }
  }

  /// `error` with the first key that `request` visits.
  private func naming(_ request: ScanRequest, in error: CacheError) throws(CacheError) -> CacheError {
    guard let failure = error.cause as? SQLiteFailure else { return error }
    let statement = try SQLiteStatement(SQLiteSchema.scanKeys(isDescending: request.isDescending), on: connection)
    try statement.bind(request, limit: 1)
    guard try statement.step() else { return error }
    let key = try SQLiteRow.key(of: statement, column: 0)
    return .undecodable(failure.message, key: key.text, path: connection.path)
  }

  /// How much the store holds, all counted in one state.
  func count() throws(CacheError) -> StoreCount {
    try inTransaction { () throws(CacheError) in try StoreCount(SQLiteSchema.count, on: connection) }
  }

  /// Calls `body` in a transaction, so that it sees a single state of the store.
  private func inTransaction<Output>(_ body: () throws(CacheError) -> Output) throws(CacheError) -> Output {
    snapshot.end()
    try connection.execute("BEGIN")
    defer { _ = try? connection.execute("ROLLBACK") }
    return try body()
  }
}

extension SQLiteStatement {
  /// Binds the range of a scan.
  fileprivate func bind(_ request: ScanRequest, limit: Int) throws(CacheError) {
    let (lower, upper) = request.bounds
    try bind(lower, at: 1)
    try bind(upper, at: 2)
    try bind(Int64(limit), at: 3)
  }
}

extension SQLiteReader {
  /// The issues with the file and its rows, all found in one state.
  func check() throws(CacheError) -> [IntegrityIssue] {
    var issues: [IntegrityIssue] = []
    try inTransaction { () throws(CacheError) in
      for find in [findInStructure, findInSchema, findInEntries, findInCounts] {
        do throws(CacheError) {
          try find(&issues)
        } catch {
          guard error.code == .damaged else { throw error }
          let issue = IntegrityIssue(kind: .structure, message: error.message)
          if !issues.contains(issue) { issues.append(issue) }
        }
      }
    }
    return issues
  }

  private func findInStructure(_ issues: inout [IntegrityIssue]) throws(CacheError) {
    let statement = try SQLiteStatement("PRAGMA integrity_check", on: connection)
    while try statement.step() {
      let message = String(decoding: statement.bytes(0), as: UTF8.self)
      if message == "ok" { continue }
      let line = message.split(separator: "\n").joined(separator: "; ")
      issues.append(IntegrityIssue(kind: .structure, message: line))
    }
  }

  /// If the tables and triggers are not exactly as created, nothing keeps the counts correct.
  private func findInSchema(_ issues: inout [IntegrityIssue]) throws(CacheError) {
    let found = SQLiteSchema.definitions(in: connection)
    for definition in SQLiteSchema.definitions where !found.contains(definition) {
      let name = definition.split(separator: " ").prefix(3).joined(separator: " ")
      issues.append(IntegrityIssue(kind: .structure, message: "\(connection.path): '\(name)' is missing or altered"))
    }
  }

  private func findInEntries(_ issues: inout [IntegrityIssue]) throws(CacheError) {
    let statement = try SQLiteStatement(SQLiteSchema.everything, on: connection)
    while try statement.step() {
      var key: CacheKey?
      do throws(CacheError) {
        let found = try SQLiteRow.key(of: statement)
        key = found
        _ = try row.entry(of: statement, key: found.text)
      } catch {
        issues.append(IntegrityIssue(key: key, kind: .undecodable, message: error.message))
      }
    }
  }

  private func findInCounts(_ issues: inout [IntegrityIssue]) throws(CacheError) {
    var told = try StoreCount(SQLiteSchema.count, on: connection)
    let found = try StoreCount(SQLiteSchema.recount, on: connection)
    // A time earlier than that of any entry is right.
    for (namespace, count) in found.namespaces where told[namespace].earliestExpiry < count.earliestExpiry {
      told[namespace].earliestExpiry = count.earliestExpiry
    }
    if told == found { return }
    let message =
      "\(connection.path): the counts say \(told.entries) entries of \(told.payloadBytes) bytes, and there are"
      + " \(found.entries) of \(found.payloadBytes), or in other namespaces, or one that expires earlier"
    issues.append(IntegrityIssue(kind: .structure, message: message))
  }
}
