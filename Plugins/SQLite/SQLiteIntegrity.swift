internal import StorageSPI

extension SQLiteReader {
  /// The issues with the file and its rows, all found in one state.
  func checkIntegrity() throws(CacheError) -> [IntegrityIssue] {
    var issues: [IntegrityIssue] = []
    try inTransaction { () throws(CacheError) in
      for find in [findInStructure, findInSchema, findInEntries, findInTally] {
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

  /// If the tables and triggers are not exactly as created, nothing keeps the tally correct.
  private func findInSchema(_ issues: inout [IntegrityIssue]) throws(CacheError) {
    let found = SQLiteSchema.definitions(in: connection)
    for definition in SQLiteSchema.definitions where !found.contains(definition) {
      let name = definition.split(separator: " ").prefix(3).joined(separator: " ")
      issues.append(IntegrityIssue(kind: .structure, message: "\(connection.path): '\(name)' is missing or altered"))
    }
  }

  private func findInTally(_ issues: inout [IntegrityIssue]) throws(CacheError) {
    guard let stored = try SQLiteStoredTally(on: connection)?.whole else { return }
    let counted = try SQLiteStoredTally.counted(on: connection)
    guard stored != counted else { return }
    let (told, found) = (stored.total(), counted.total())
    let message =
      "\(connection.path): the tally says \(told.entries) entries of \(told.payloadBytes) bytes, and there are"
      + " \(found.entries) of \(found.payloadBytes), or of other times"
    issues.append(IntegrityIssue(kind: .structure, message: message))
  }

  private func findInEntries(_ issues: inout [IntegrityIssue]) throws(CacheError) {
    let statement = try SQLiteStatement(SQLiteSchema.everything, on: connection)
    while try statement.step() {
      if let issue = issue(of: statement) { issues.append(issue) }
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
      let namespace = String(decoding: statement.bytes(SQLiteRow.firstOwnColumn + 2), as: UTF8.self)
      if namespace == found.namespace { return nil }
      throw .undecodable("its namespace is another", key: found.text, path: connection.path)
    } catch {
      return IntegrityIssue(key: key, kind: .undecodable, message: error.message)
    }
  }
}
