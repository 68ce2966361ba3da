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
        if message != "ok" { issues.append(IntegrityIssue(kind: .structure, message: Self.oneLine(message))) }
      }
    }
  }

  /// If the tables and triggers are not exactly as created, nothing keeps the tally correct.
  private func issuesOfSchema() throws(CacheError) -> [IntegrityIssue] {
    try collectingDamage { issues throws(CacheError) in
      guard try SQLiteSchema.verify(connection) >= SQLiteSchema.firstVersionWithTally else { return }
      let statement = try SQLiteStatement("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL", on: connection)
      var missing = SQLiteSchema.definitions
      while try statement.step() {
        let definition = String(decoding: statement.bytes(0), as: UTF8.self)
        missing.removeAll { $0 == definition }
      }
      for definition in missing {
        let name = definition.split(separator: " ").prefix(3).joined(separator: " ")
        issues.append(IntegrityIssue(kind: .structure, message: "\(connection.path): '\(name)' is missing or altered"))
      }
    }
  }

  private func issuesOfTally() throws(CacheError) -> [IntegrityIssue] {
    try collectingDamage { issues throws(CacheError) in
      guard let kept = try SQLiteStoredTally(on: connection)?.whole else { return }
      let counted = try SQLiteStoredTally.counted(on: connection)
      guard kept != counted else { return }
      let (told, found) = (kept.total(), counted.total())
      issues.append(
        IntegrityIssue(
          kind: .structure,
          message: "\(connection.path): the tally says \(told.entries) entries of \(told.payloadBytes) bytes,"
            + " and there are \(found.entries) of \(found.payloadBytes), or of other times"))
    }
  }

  private func issuesOfEntries() throws(CacheError) -> [IntegrityIssue] {
    try collectingDamage { issues throws(CacheError) in
      let statement = try SQLiteStatement(SQLiteSchema.everything, on: connection)
      while try statement.step() {
        if let issue = issue(of: statement) { issues.append(issue) }
      }
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

  private static func oneLine(_ text: String) -> String {
    text.split(separator: "\n").joined(separator: "; ")
  }
}
