internal import FetchVocabulary

/// Where a fetched value came from and its state in the cache: the part that all fetched resources share.
struct SnapshotOrigin: Sendable {
  /// Whether the cache answered.
  let isFromCache: Bool
  /// Whether the origin has just confirmed the value.
  let isRevalidated: Bool
  /// The name of the backend; `nil` if there was no store.
  let backend: String?
  /// The facts about the entry.
  let entry: EntryFacts
  /// The failures on the way to the value.
  let warnings: [ErrorView]

  init<Value>(_ snapshot: Snapshot<Value>, backend: String?) {
    self.isFromCache = snapshot.source == .cache
    self.isRevalidated = snapshot.isRevalidated
    self.backend = backend
    self.entry = snapshot.entry
    self.warnings = snapshot.warnings.map { ErrorView($0, backend: backend) }
  }

  /// Whether the value is a stale one from the cache.
  var isStale: Bool { isFromCache && entry.isStale && !isRevalidated }

  /// The members of the document that do not depend on the resource, in order.
  func members(resource: String) -> [JSONValue.Member] {
    [
      .init("resource", .string(resource)), .init("source", .string(isFromCache ? "cache" : "origin")),
      .init("revalidated", .boolean(isRevalidated)), .init("stale", .boolean(isStale)),
      .init("backend", JSONValue(backend)), .init("key", .string(entry.key)),
      .init("storedAt", JSONValue(time: entry.storedAt)), .init("freshUntil", JSONValue(time: entry.freshUntil)),
    ]
  }

  /// A remark that begins with `parts` and says where the value came from. A stale value stands out.
  func status(_ parts: [String]) -> StatusLine {
    StatusLine(parts + ["\(source), \(freshness)"], style: isStale ? .yellow : .dim)
  }

  /// The line above the value that sets it apart from another snapshot of the same resource.
  var heading: StatusLine {
    let text = "\(source), \(freshness):"
    return StatusLine([text.prefix(1).uppercased() + text.dropFirst()], style: isStale ? .yellow : .bold)
  }

  /// Where the value came from, such as "from cache (ENGINE), stored 3 min ago".
  var source: String {
    guard isFromCache else { return "from the origin" }
    let age = RelativeTimeText.past(age: entry.age)
    return isRevalidated ? "\(cache), confirmed by the origin \(age)" : "\(cache), stored \(age)"
  }

  /// The cache with the name of its backend.
  var cache: String { backend.map { "from cache (\($0))" } ?? "from cache" }

  /// The state of the value, such as "fresh for 57 min".
  var freshness: String {
    if !entry.isStored { return "not stored" }
    if !entry.isStale { return "fresh for \(ElapsedTimeText.rough(entry.remainingFreshness))" }
    if isStale, entry.age == nil { return "stale, as its age is unknown" }
    return isStale ? "stale for \(ElapsedTimeText.rough(entry.remainingFreshness))" : "to be confirmed before each use"
  }
}
