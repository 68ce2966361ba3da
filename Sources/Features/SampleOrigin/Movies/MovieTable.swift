internal import CSampleData

/// The embedded movies, the best known first.
enum MovieTable {
  private static let records = EmbeddedText(csample_movies())

  /// The record whose line begins at `offset`; `nil` if none does.
  static func record(at offset: Int) -> MovieRecord? {
    guard (0..<records.count).contains(offset) else { return nil }
    return MovieRecord(line: records.string(offset..<records.endOfLine(offset)))
  }

  /// The record of the movie `id`; `nil` if there is none. Scans all records, which takes half a millisecond at worst.
  static func record(id: String) -> MovieRecord? {
    if records.bytes.starts(with: "\(id)\t".utf8) { return record(at: 0) }
    return records.firstIndex(of: Array("\n\(id)\t".utf8), from: 0).flatMap { record(at: $0 + 1) }
  }
}
