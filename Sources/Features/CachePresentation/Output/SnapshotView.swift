public import FetchVocabulary

/// A page of items of a resource that can be shown. A new resource needs only this. A list that has no pages is page 1 of 1.
public protocol PresentablePage: Sendable {
  associatedtype Item: Sendable

  /// The resource's name.
  static var resource: String { get }
  /// The singular and the plural of the word for an item.
  static var nouns: (singular: String, plural: String) { get }
  /// The number of the first page.
  static var firstPage: Int { get }

  /// The number of this page.
  var page: Int { get }
  /// The number of pages.
  var totalPages: Int { get }
  /// The number of items on all pages.
  var totalItems: Int { get }
  /// The items on this page, in order.
  var items: [Item] { get }
  /// The members of an item, and what people see of it.
  var columns: [Column<Item>] { get }
}

extension PresentablePage {
  /// 1.
  public static var firstPage: Int { 1 }
  /// 1.
  public var page: Int { 1 }
  /// 1.
  public var totalPages: Int { 1 }
  /// The number of items on this page.
  public var totalItems: Int { items.count }
}

/// A fetched value and its source. It is one of several if the cached value is shown while the value is requested from
/// the origin.
public struct SnapshotView: OutputView {
  private let content: any OutputView
  let origin: SnapshotOrigin
  private let extent: [String]
  /// The source of the value, such as "from cache (ENGINE), stored 3 min ago, fresh for 57 min".
  public internal(set) var status: StatusLine?
  /// The failures on the way to this value.
  public internal(set) var warnings: [ErrorView]

  private init(_ origin: SnapshotOrigin, extent: [String], _ content: any OutputView) {
    self.content = content
    self.origin = origin
    self.extent = extent
    status = origin.status(extent)
    warnings = origin.warnings
  }

  /// The view of `snapshot` of the resource called `resource`, which came through the store called `backend` (`nil` if there
  /// was no store).
  ///
  /// - Parameters:
  ///   - fields: the facts, which follow the members of every fetch.
  ///   - extent: what the remark begins with.
  ///   - text: what people see below the fields.
  public init<Value>(
    _ snapshot: Snapshot<Value>, of resource: String, backend: String?, _ fields: [Field], extent: [String] = [],
    text: (@Sendable (Screen) -> String)? = nil
  ) {
    let origin = SnapshotOrigin(snapshot, backend: backend)
    let members = origin.members(resource: resource).map { Field($0.name, $0.value) }
    self.init(origin, extent: extent, RecordView(members + fields, text: text))
  }

  /// The view of a page. Shows only the first `limit` items, or all without a limit.
  public init<Page: PresentablePage>(_ snapshot: Snapshot<Page>, backend: String?, limit: Int? = nil) {
    let page = snapshot.value
    let origin = SnapshotOrigin(snapshot, backend: backend)
    let shown = Array(page.items.prefix(max(limit ?? .max, 0)))
    let list = ListView(shown, page.columns) { items in
      .object(
        origin.members(resource: Page.resource) + [
          .init("page", .integer(page.page)), .init("totalPages", .integer(page.totalPages)),
          .init("totalItems", .integer(page.totalItems)), .init("items", .array(items)),
        ])
    }
    self.init(origin, extent: page.extent(shown: shown.count), list)
  }

  /// The document of a fetch.
  public var json: JSONValue { content.json }
  /// The names of the members of a record.
  public var columns: [String] { content.columns }
  /// The items of a page; otherwise the document.
  public var records: [JSONValue] { content.records }
  /// The value for people.
  public func table(on screen: Screen, hasHeader: Bool) -> String { content.table(on: screen, hasHeader: hasHeader) }

  /// Whether the value is a stale one from the cache.
  public var isStale: Bool { origin.isStale }

  /// The line above this snapshot, if two are shown one after the other, such as "From cache (ENGINE), stored 3 min ago,
  /// fresh for 57 min:".
  public var heading: StatusLine {
    let text = "\(origin.source), \(origin.freshness):"
    return StatusLine([text.prefix(1).uppercased() + text.dropFirst()], style: origin.isStale ? .yellow : .bold)
  }

  /// The remark while a newer snapshot is on its way, such as "Waiting for the origin · Page 1 of 243 · ...".
  public var waiting: StatusLine { origin.status(["Waiting for the origin"] + extent) }
}

extension PresentablePage {
  /// The position of the page among all, such as "Page 1 of 243" and "6,057 cities", if `count` of its items are shown.
  /// People count pages from 1. If the origin does not, its own number is shown too: `--page` takes that.
  fileprivate func extent(shown count: Int) -> [String] {
    guard totalItems > 0 else { return ["No \(Self.nouns.plural)"] }
    // The origin supplies the number: it must not overflow.
    let number = NumberText.text(min(max(page, Self.firstPage) - Self.firstPage, Int.max - 1) + 1)
    let option = Self.firstPage == 1 ? "" : " (--page \(page))"
    let place = "Page \(number) of \(NumberText.text(totalPages))\(option)"
    let total = NumberText.count(totalItems, Self.nouns.singular, Self.nouns.plural)
    guard count < items.count else { return [place, total] }
    return ["\(place), \(count == 0 ? "none shown" : "first \(NumberText.text(count))")", total]
  }
}

/// The source of a fetched value and its state in the cache: the part that all fetched resources share.
struct SnapshotOrigin: Sendable {
  private let isFromCache: Bool
  private let isRevalidated: Bool
  /// The name of the backend; `nil` if there was no store.
  let backend: String?
  private let entry: EntryFacts
  /// The failures on the way to the value.
  let warnings: [ErrorView]

  init<Value>(_ snapshot: Snapshot<Value>, backend: String?) {
    self.isFromCache = snapshot.source == .cache
    self.isRevalidated = snapshot.isRevalidated
    self.backend = backend
    self.entry = snapshot.entry
    self.warnings = snapshot.warnings.map { ErrorView($0.error, backend: backend) }
  }

  /// Whether the value is a stale one from the cache.
  var isStale: Bool { isFromCache && entry.isStale && !isRevalidated }

  /// The members of the document that do not depend on the resource, in order.
  func members(resource: String) -> [JSONValue.Member] {
    [
      .init("resource", .string(resource)), .init("source", .string(isFromCache ? "cache" : "origin")),
      .init("revalidated", .boolean(isRevalidated)), .init("stale", .boolean(isStale)),
      .init("backend", JSONValue(backend)), .init("key", .string(entry.key)),
      .init("stored", .boolean(entry.isStored)),
      .init("storedAt", JSONValue(time: entry.isStored ? entry.storedSinceEpoch : nil)),
      .init("freshUntil", JSONValue(time: entry.freshUntilSinceEpoch)),
    ]
  }

  /// A remark that begins with `parts` and says where the value came from. A stale value stands out.
  func status(_ parts: [String]) -> StatusLine {
    StatusLine(parts + ["\(source), \(freshness)"], style: isStale ? .yellow : .dim)
  }

  /// The source of the value, such as "from cache (ENGINE), stored 3 min ago".
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
