import Foundation
import Testing

/// The engines, and the promises to scripts.
enum Contract {
  static let persistentEngines = ["sqlite", "lmdb", "plist"]
  static let engines = persistentEngines + ["memory"]

  /// Pairs each of `values` with one of the engines in turn, for features that an engine could break only for all
  /// values.
  static func inTurn<Value>(_ values: [Value]) -> [(engine: String, value: Value)] {
    values.enumerated().map { (persistentEngines[$0.offset % persistentEngines.count], $0.element) }
  }

  static let fetchMembers = [
    "backend", "freshUntil", "items", "key", "page", "resource", "revalidated", "source", "stale", "stored", "storedAt",
    "totalItems", "totalPages",
  ]
  static let cityMembers = ["id", "name", "organizationCount", "revenue", "subName"]
  static let movieMembers = ["genres", "id", "overview", "posterPath", "releaseDate", "title"]
  static let entryMembers = [
    "bytes", "contentType", "freshUntil", "key", "namespace", "retainUntil", "state", "storedAt", "url",
  ]
  static let statisticsMembers = [
    "address", "backend", "entries", "evictions", "expired", "fresh", "hits", "misses", "namespaces",
    "path", "payloadBytes", "stale", "storageBytes",
  ]

  static let citiesKey = "cities/v1/order=revenue/origin=sample/page=0/sort=desc"

  /// Whether a text is a time as RFC 3339 has it, in UTC.
  static func isTimestamp(_ value: JSON?) -> Bool {
    guard let text = value?.text else { return false }
    return text.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/) != nil
  }
}

/// Checks that a run failed as the contract says: the exit code, one line on stderr, and at most one for a
/// hint.
func expectFailure(
  _ run: Run, status: Int32, mentioning words: [String] = [], sourceLocation: SourceLocation = #_sourceLocation
) {
  #expect(run.status == status, "\(run.errors)", sourceLocation: sourceLocation)
  #expect(run.output.isEmpty, "\(run.text.prefix(200))", sourceLocation: sourceLocation)
  #expect(run.errorLines.count == 1, "\(run.errors)", sourceLocation: sourceLocation)
  #expect(run.errors.split(separator: "\n").count <= 2, "\(run.errors)", sourceLocation: sourceLocation)
  // With `--output json` it is a document.
  let isError = ["cachectl: ", "{\"error\":{\"code\":"].contains { run.errors.hasPrefix($0) }
  #expect(isError, "\(run.errors)", sourceLocation: sourceLocation)
  for word in words { #expect(run.errors.contains(word), "\(run.errors)", sourceLocation: sourceLocation) }
}

/// Checks that a run gave all that it could of a damaged store, and ended with an error about the rest.
func expectDamage(_ run: Run, sourceLocation: SourceLocation = #_sourceLocation) {
  #expect(run.status == 65, "\(run.errors)", sourceLocation: sourceLocation)
  let isError = ["cachectl: ", "{\"error\":{\"code\":"].contains { run.errorLines.last?.hasPrefix($0) == true }
  #expect(isError, "\(run.errors)", sourceLocation: sourceLocation)
}

/// Checks that a run succeeded.
func expectSuccess(_ run: Run, sourceLocation: SourceLocation = #_sourceLocation) {
  #expect(run.status == 0, "\(run.errors)", sourceLocation: sourceLocation)
}
