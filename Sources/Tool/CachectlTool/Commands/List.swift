/// `ls`.
struct ListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ls", abstract: "List entries",
    discussion: """
      Entries are printed while they are read, in the order of their keys; a server lists them in its own order, unless you \
      pass --sort. If --limit leaves some out, a cursor is printed, and --cursor continues after it. With URL it lists the \
      entries of that URL: several if the response depends on header fields of the request. On a terminal the common \
      parts of long keys and URLs are cut; elsewhere they are whole, with tabs between the columns.
      """,
    examples: [
      "cachectl ls https://example.com/data.json", "cachectl ls --prefix https://example.com/ --state stale",
      "cachectl ls --namespace cities", "cachectl ls --limit 100 --cursor cities/v1/page=7",
      "cachectl ls --state expired --output ndjson", "cachectl ls --match '*/page=0/*' --sort size --limit 10",
    ])

  @Argument(help: "The URL whose entries to list; by default all entries")
  var url: String?

  @OptionGroup
  var entries: EntryFlags

  @Option(help: "Sort by key (the default), or the largest, last stored or last used first")
  var sort: EntryOrder?

  @Option(help: ArgumentHelp("Show at most N entries", valueName: "n"))
  var limit: Int?

  @Option(help: "Continue after CURSOR, a key or the cursor of an earlier listing", completion: .keys)
  var cursor: String?

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func validate() throws(ValidationError) {
    if let url, !url.holds("://") {
      throw ValidationError("'\(url)' is not a URL: list keys with --prefix, or a namespace with --namespace")
    }
    if url != nil, entries.prefix != nil || cursor != nil {
      throw ValidationError("a URL excludes --prefix and --cursor")
    }
    if let limit, limit < 1 { throw ValidationError("--limit is 1 or more") }
    if cursor != nil, sort ?? .key != .key {
      throw ValidationError("--cursor continues in the order of keys: leave out --sort, or use a larger --limit")
    }
  }

  func run() async throws {
    let session = try Session(global)
    var listing = EntriesListing(global.output, on: Console.output.screen)
    let next: String?
    do throws(CacheError) {
      next = try await session.withStore { store throws(CacheError) in
        try await list(store, session) { page, readAt throws(CacheError) in
          try Console.output.write(listing.text(page, now: readAt))
        }
      }
    } catch {
      // The entries listed before the damage are a complete document.
      if error.code == .damaged, listing.hasBegun { try Console.output.write(listing.end(cursor: nil)) }
      throw error
    }
    try Console.output.write(listing.end(cursor: next))
    // Only a JSON document has a place for the cursor.
    if global.output == .table || (next != nil && global.output != .json) { global.remark(listing.status) }
  }

  /// Passes the entries to `write`: page by page in the order of the engine, all at once in another order.
  ///
  /// - Returns: the position after which the listing continues; `nil` at its end.
  private func list(
    _ store: OpenStore, _ session: Session,
    _ write: ([ScannedEntry], Timestamp) throws(CacheError) -> Void
  ) async throws(CacheError) -> String? {
    if let url { return try await list(EntryName(url), store, write) }
    let (selection, limit) = (entries.selection(), limit ?? .max)
    let isOrdered = store.entries.isOrdered
    if sort == nil || sort == .key && isOrdered {
      if isOrdered, let cursor { _ = try CacheKey(cursor) }
      return try await store.administration.list(selection, after: cursor, limit: limit, write)
    }
    guard cursor == nil else {
      throw CacheError(
        .invalidRequest, "\(session.configuration.backend) lists keys in no order",
        hint: "leave --sort out, or take a larger --limit")
    }
    let sorted = try await store.administration.list(selection, by: sort ?? .key, limit: limit)
    try write(sorted.entries, sorted.readAt)
    return nil
  }

  /// Passes the entries of a URL to `write`: so few that they are always sorted.
  private func list(
    _ name: EntryName, _ store: OpenStore, _ write: ([ScannedEntry], Timestamp) throws(CacheError) -> Void
  ) async throws(CacheError) -> String? {
    var left = limit ?? .max
    for prefix in name.keyPrefixes where left > 0 {
      var selection = entries.selection()
      selection.prefix = prefix
      let sorted = try await store.administration.list(selection, by: sort ?? .key, limit: left)
      try write(sorted.entries, sorted.readAt)
      left -= sorted.entries.count
    }
    return nil
  }
}

extension EntryOrder: ExpressibleByArgument {}

/// The text of a listing of any length, made page by page: only one page is in memory. The columns of a table are as wide as
/// the pages so far require.
struct EntriesListing {
  private let format: OutputFormat
  private let screen: Screen
  private var count = 0
  private var bytes = 0
  private var cursor: String?
  private(set) var hasBegun = false
  private var widths: [Int] = []

  init(_ format: OutputFormat, on screen: Screen) {
    self.format = format
    self.screen = screen
  }

  /// The text of the next entries, which were read at `now`.
  mutating func text(_ page: [ScannedEntry], now: Timestamp) -> String {
    let isFirst = !hasBegun
    hasBegun = true
    count += page.count
    bytes += page.reduce(0) { $0 + $1.payloadBytes }
    let view = ListView(page, ScannedEntry.columns(at: now))
    switch format {
    case .table: return table(page, now, hasHeader: isFirst)
    case .ndjson, .csv: return OutputRenderer(format, on: screen).text(view, hasHeader: isFirst)
    case .json:
      let records = view.records.map { JSONText.text($0) }.joined(separator: ",")
      return (isFirst ? "{\"entries\":[" : records.isEmpty ? "" : ",") + records
    }
  }

  /// The text after the last page; the listing continues after `cursor` (`nil` at its end).
  mutating func end(cursor: String?) -> String {
    self.cursor = cursor
    let start = hasBegun ? "" : text([], now: Timestamp(milliseconds: 0))
    return format == .json ? start + "],\"cursor\":\(JSONText.text(JSONValue(cursor)))}\n" : start
  }

  /// How many entries were shown, their size, and how to see more.
  var status: StatusLine {
    guard count > 0 else { return StatusLine(["No entries"]) }
    let parts = [NumberText.count(count, "entry", "entries"), ByteCountText.text(bytes)]
    return StatusLine(parts + (cursor.map { ["more with --cursor \($0)"] } ?? []))
  }

  /// The entries, with what decides whether they can be served. The other formats and `show` have the rest. On a terminal
  /// of known width the common parts of keys and URLs are cut, elsewhere they are whole.
  private mutating func table(_ entries: [ScannedEntry], _ now: Timestamp, hasHeader: Bool) -> String {
    typealias Entries = Column<ScannedEntry>
    let time = now.sinceEpoch
    let size = Entries(table: .init("Size", .right)) { .init(ByteCountText.text($0.payloadBytes)) }
    let state = Entries(table: .init("State")) { $0.metadata.state(at: now).cell }
    let key = Entries(table: .init("Key or URL", priority: 1, isShrinkable: true, minimum: 24, isCutInMiddle: true)) {
      .init($0.name)
    }
    let age = Entries(table: .init("Age", .right, priority: -1)) { entry in
      let storedAt = entry.metadata.storedAt
      return .init(storedAt.isAhead(of: now) ? "-" : ElapsedTimeText.short(max(time - storedAt.sinceEpoch, .zero)))
    }
    let fresh = Entries(table: .init("Fresh for", .right)) { entry in
      let end = entry.metadata.freshUntil.sinceEpoch
      return .init(end >= RFC3339Text.latest ? "ever" : end > time ? ElapsedTimeText.short(end - time) : "-")
    }
    let table = Table(entries, [key, size, state, age, fresh])
    guard screen.isTerminal else { return table.tabbedText(hasHeader: hasHeader) }
    return table.text(on: screen, hasHeader: hasHeader, below: &widths)
  }
}

extension ScannedEntry {
  /// The name of the entry for people: its key, or its URL, followed by what tells it from other entries of that URL.
  var name: String {
    guard let url = StoredURL(key) else { return key.text }
    if let count = metadata.variantCount {
      return "\(url.text) (list of \(NumberText.count(count, "response", "responses")))"
    }
    let fields = metadata.selectingFields.joined(separator: ", ")
    guard let digest = url.variant?.prefix(6) else { return fields.isEmpty ? url.text : "\(url.text) (\(fields))" }
    return "\(url.text) (\(fields.isEmpty ? digest : "\(fields) \(digest)"))"
  }

  /// The members of an entry's document at `now`.
  static func columns(at now: Timestamp) -> [Column<ScannedEntry>] {
    [
      Column("key") { .string($0.key.text) }, Column("namespace") { .string($0.key.namespace) },
      Column("bytes") { .integer($0.payloadBytes) },
      Column("storedAt") { JSONValue(time: $0.metadata.storedAt.sinceEpoch) },
      Column("freshUntil") { JSONValue(time: $0.metadata.freshUntil.sinceEpoch) },
      Column("retainUntil") { JSONValue(time: $0.metadata.retainUntil.sinceEpoch) },
      Column("state") { .string($0.metadata.state(at: now).rawValue) },
      Column("contentType") { .string($0.metadata.contentType) },
      Column("url") { JSONValue(StoredURL($0.key).flatMap { $0.isWhole ? $0.text : nil }) },
    ]
  }
}

extension EntryState {
  /// The state for people, in its color.
  var cell: Table.Cell {
    switch self {
    case .fresh: .init(rawValue, .green)
    case .stale: .init(rawValue, .yellow)
    case .expired: .init(rawValue, .red)
    }
  }
}
