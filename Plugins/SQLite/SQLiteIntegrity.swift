internal import StorageSPI

extension SQLiteReader {
  /// The issues with the file and its rows.
  func checkIntegrity() throws(CacheError) -> [IntegrityIssue] {
    try inTransaction { () throws(CacheError) in
      try issuesOfStructure() + issuesOfSchema() + issuesOfEntries() + issuesOfTally()
    }
  }

  private func issuesOfStructure() throws(CacheError) -> [IntegrityIssue] {
    try collectingDamage { issues throws(CacheError) in
      let statement = try SQLiteStatement("PRAGMA integrity_check", on: connection)
      while try statement.step() {
        let message = String(decoding: statement.bytes(0), as: UTF8.self)
        if message == "ok" { continue }
        let line = message.split(separator: "\n").joined(separator: "; ")
        issues.append(IntegrityIssue(kind: .structure, message: line))
      }
    }
  }

  /// If the tables and triggers are not exactly as created, nothing keeps the tally correct.
  private func issuesOfSchema() -> [IntegrityIssue] {
    let found = SQLiteSchema.definitions(in: connection)
    return SQLiteSchema.definitions.filter { !found.contains($0) }.map { definition in
      let name = definition.split(separator: " ").prefix(3).joined(separator: " ")
      return IntegrityIssue(kind: .structure, message: "\(connection.path): '\(name)' is missing or altered")
    }
  }

  private func issuesOfTally() throws(CacheError) -> [IntegrityIssue] {
    try collectingDamage { issues throws(CacheError) in
      guard let stored = try SQLiteStoredTally(on: connection)?.whole else { return }
      let counted = try SQLiteStoredTally.counted(on: connection)
      guard stored != counted else { return }
      let (told, found) = (stored.total(), counted.total())
      issues.append(
        IntegrityIssue(
          kind: .structure,
          message: "\(connection.path): the tally says \(told.entries) entries of \(told.payloadBytes) bytes,"
            + " and there are \(found.entries) of \(found.payloadBytes), or of other times"))
    }
  }

  private func issuesOfEntries() throws(CacheError) -> [IntegrityIssue] {
    var last: [UInt8] = []
    return try collectingDamage { issues throws(CacheError) in
      while let damage = try damage(after: &last, &issues) {
        // The index of keys may still name the row.
        guard let key = try firstKey(after: last), last.lexicographicallyPrecedes(key) else { throw damage }
        let text = String(decoding: key, as: UTF8.self)
        let error = CacheError.undecodable(damage.message, key: text, path: connection.path)
        issues.append(IntegrityIssue(key: try? CacheKey(text), kind: .undecodable, message: error.message))
        last = key
      }
    }
  }

  /// Adds the issues of the entries after `last`, which moves to the last row that can be read.
  ///
  /// - Returns: the error that ended this; `nil` if there was none.
  private func damage(
    after last: inout [UInt8], _ issues: inout [IntegrityIssue]
  ) throws(CacheError) -> CacheError? {
    let start = last
    let statement = try SQLiteStatement(SQLiteSchema.everything, on: connection)
    do throws(CacheError) {
      try start.span.withUnsafeBufferPointer { bytes throws(CacheError) in
        try statement.bind(bytes, at: 1)
        while try statement.step() {
          last = Array(statement.bytes(SQLiteRow.firstOwnColumn + 1))
          if let issue = issue(of: statement) { issues.append(issue) }
        }
      }
      return nil
    } catch {
      guard error.code == .damaged else { throw error }
      return error
    }
  }

  private func firstKey(after last: [UInt8]) throws(CacheError) -> [UInt8]? {
    let statement = try SQLiteStatement("SELECT key FROM entries WHERE key > ?1 ORDER BY key LIMIT 1", on: connection)
    return try last.span.withUnsafeBufferPointer { last throws(CacheError) in
      try statement.bind(last, at: 1)
      return try statement.step() ? Array(statement.bytes(0)) : nil
    }
  }

  /// The issue with the current row of `statement`; `nil` if there is none.
  private func issue(of statement: borrowing SQLiteStatement) -> IntegrityIssue? {
    var key: CacheKey?
    do throws(CacheError) {
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

  /// The issues that `find` adds, plus one more if damage stopped it.
  private func collectingDamage(
    _ find: (inout [IntegrityIssue]) throws(CacheError) -> Void
  ) throws(CacheError) -> [IntegrityIssue] {
    var issues: [IntegrityIssue] = []
    do throws(CacheError) {
      try find(&issues)
    } catch {
      guard error.code == .damaged else { throw error }
      issues.append(IntegrityIssue(kind: .structure, message: error.message))
    }
    return issues
  }
}
