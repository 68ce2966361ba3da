public import FetchVocabulary

/// A page of items of a resource that can be shown. A new resource needs only this.
public protocol PresentablePage: Sendable {
  /// The resource's name.
  static var resource: String { get }
  /// The singular and the plural of the word for an item.
  static var nouns: (singular: String, plural: String) { get }
  /// The number of the first page.
  static var firstPage: Int { get }
  /// The names of the members of an item, in order.
  static var itemColumns: [String] { get }

  /// The number of this page.
  var page: Int { get }
  /// The number of pages.
  var totalPages: Int { get }
  /// The number of items on all pages.
  var totalItems: Int { get }
  /// The number of items on this page.
  var itemCount: Int { get }
  /// The documents of the items, in order.
  var items: [JSONValue] { get }
  /// The first `count` items for people.
  func table(first count: Int) -> Table
}

/// A fetched page, and where it came from.
public struct PageView<Page: PresentablePage>: SnapshotView {
  private let page: Page
  private let origin: SnapshotOrigin
  /// The number of items to show.
  private let count: Int

  /// The view of `snapshot`, which came through the store called `backend` (`nil` if there was no store). Shows only
  /// the first `limit` items, or all without a limit.
  public init(_ snapshot: Snapshot<Page>, backend: String?, limit: Int? = nil) {
    page = snapshot.value
    origin = SnapshotOrigin(snapshot, backend: backend)
    count = min(max(limit ?? .max, 0), page.itemCount)
  }

  /// The document of a fetch.
  public var json: JSONValue {
    .object(
      origin.members(resource: Page.resource) + [
        .init("page", .integer(page.page)), .init("totalPages", .integer(page.totalPages)),
        .init("totalItems", .integer(page.totalItems)), .init("items", .array(records)),
      ])
  }

  /// The names of the members of an item.
  public var columns: [String] { Page.itemColumns }

  /// The items.
  public var records: [JSONValue] { Array(page.items.prefix(count)) }

  /// The items for people.
  public func table(on screen: Screen, hasHeader: Bool) -> String {
    page.table(first: count).text(on: screen, hasHeader: hasHeader)
  }

  /// A remark such as "Page 1 of 243 · 6,057 cities · from cache (ENGINE), stored 3 min ago, fresh for 57 min".
  public var status: StatusLine? { origin.status(extent) }

  /// Where the page came from, such as "From cache (ENGINE), stored 3 min ago, fresh for 57 min:".
  public var heading: StatusLine { origin.heading }

  /// The remark while the origin is asked for a newer page, such as "Asking the origin · Page 1 of 243 · ...".
  public var waiting: StatusLine { origin.status(["Asking the origin"] + extent) }

  /// The failures on the way to this page.
  public var warnings: [ErrorView] { origin.warnings }

  /// People count pages from 1, whatever the origin's first number.
  private var extent: [String] {
    let nouns = Page.nouns
    guard page.totalItems > 0 else { return ["No \(nouns.plural)"] }
    // The origin supplies the number: it must not overflow.
    let number = NumberText.text(min(max(page.page, Page.firstPage) - Page.firstPage, Int.max - 1) + 1)
    let place = "Page \(number) of \(NumberText.text(page.totalPages))"
    let total = NumberText.count(page.totalItems, nouns.singular, nouns.plural)
    guard count < page.itemCount else { return [place, total] }
    return ["\(place), \(count == 0 ? "none shown" : "first \(NumberText.text(count))")", total]
  }
}

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
