internal import CCachectlPlugin
internal import StorageSPI

/// The entries that a scan has visited so far.
struct LibraryScan: LibraryCallState {
  private let range: KeyRange
  private let limit: Int
  private(set) var summaries: [EntrySummary] = []
  var defect: LibraryDefect?

  init(_ range: KeyRange, limit: Int) {
    self.range = range
    self.limit = limit
  }

  fileprivate static let callback: @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<cachectl_entry>?) -> Int32 =
    { context, entry in
      guard let scan = LibraryCall.state(context, .scan, LibraryScan.self) else { return LibraryCall.stop }
      return scan.pointee.visiting { scan throws(LibraryDefect) in try scan.visit(entry) }
    }

  private mutating func visit(_ entry: UnsafePointer<cachectl_entry>?) throws(LibraryDefect) {
    guard summaries.count < limit else { throw LibraryDefect("gave more than the \(limit) entries it was asked for") }
    let entry = try LibraryEntry(entry)
    let key = try entry.key()
    guard range.contains(key) else { throw LibraryDefect("gave entry \(key), which it was not asked for") }
    if let last = summaries.last?.key, key <= last { throw LibraryDefect("gave entry \(key) after \(last)") }
    summaries.append(
      EntrySummary(key: key, metadata: try entry.metadata(), payloadBytes: try entry.payloadSize()))
  }
}

extension LibraryStore {
  /// The first `limit` entries of `range`.
  func scan(_ range: KeyRange, limit: Int) throws(CacheError) -> [EntrySummary] {
    try scan(range, limit, by: table.functions.scan)
  }

  /// What `function` finds, which is called as `scan` of the table is.
  func scan(
    _ range: KeyRange, _ limit: Int,
    by function: (
      OpaquePointer?, UnsafePointer<cachectl_range>?, cachectl_visit_entry?, LibraryFunctions.Context?,
      LibraryFunctions.Failure?
    ) -> Int32
  ) throws(CacheError) -> [EntrySummary] {
    guard limit > 0 else { return [] }
    var arena = LibraryArena()
    defer { withExtendedLifetime(arena) {} }
    let lent = cachectl_range(
      size: MemoryLayout<cachectl_range>.size, prefix: arena.copy(range.prefix),
      after: arena.copy(range.after?.text ?? ""), limit: limit)
    var state = LibraryScan(range, limit: limit)
    try LibraryCall.make(.scan, table, &state) { context, failure in
      withUnsafePointer(to: lent) { function(handle, $0, LibraryScan.callback, context, failure) }
    }
    return state.summaries
  }
}
