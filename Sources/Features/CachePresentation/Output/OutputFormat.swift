/// A format for data.
public enum OutputFormat: String, Sendable, CaseIterable {
  /// For people.
  case table
  /// One JSON document, on one line.
  case json
  /// One JSON object per line, one for each record.
  case ndjson
  /// Comma-separated values, one line for each record, after a header.
  case csv
}
