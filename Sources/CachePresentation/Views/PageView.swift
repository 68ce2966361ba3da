public import CacheDomain

/// A page of items of some resource that can be shown. A new resource needs nothing but this.
public protocol PresentablePage: Sendable {
  /// The resource's name.
  static var resource: String { get }
  /// The words for one item and for several.
  static var nouns: (singular: String, plural: String) { get }
  /// The number of the first page.
  static var firstPage: Int { get }
  /// The names of the members of an item, in order.
  static var itemColumns: [String] { get }

  /// The number of this page.
  var page: Int { get }
  /// How many pages there are.
  var totalPages: Int { get }
  /// How many items there are on all pages.
  var totalItems: Int { get }
  /// How many items this page has.
  var itemCount: Int { get }
  /// The documents of the items, in order.
  var items: [JSONValue] { get }
  /// The first `count` items for people.
  func table(first count: Int) -> Table
}

/// A page that was fetched, with where it came from.
public struct PageView<Page: PresentablePage>: SnapshotView {
  private let page: Page
  private let origin: SnapshotOrigin
  /// How many items are shown.
  private let count: Int

  /// The view of `snapshot`, which came through the store called `backend` (`nil` where none was at hand). Only the
  /// first `limit` items are shown, all without one.
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

  /// Such as "Page 1 of 243 · 6,057 cities · from cache (lmdb), stored 3 min ago, fresh for 57 min".
  public var status: StatusLine? { origin.status(extent) }

  /// Where the page came from, such as "From cache (lmdb), stored 3 min ago, fresh for 57 min:".
  public var heading: StatusLine { origin.heading }

  /// What is said while the origin is asked for a newer page, such as "Asking the origin · Page 1 of 243 · ...".
  public var waiting: StatusLine { origin.status(["Asking the origin"] + extent) }

  /// Failures that did not keep the page from being answered.
  public var warnings: [ErrorView] { origin.warnings }

  /// Pages are counted from 1 for people, whatever the origin begins with.
  private var extent: [String] {
    let nouns = Page.nouns
    guard page.totalItems > 0 else { return ["No \(nouns.plural)"] }
    // The number is the origin's claim: it must not be able to overflow.
    let number = NumberText.text(min(max(page.page, Page.firstPage) - Page.firstPage, Int.max - 1) + 1)
    let place = "Page \(number) of \(NumberText.text(page.totalPages))"
    let total = NumberText.count(page.totalItems, nouns.singular, nouns.plural)
    guard count < page.itemCount else { return [place, total] }
    return ["\(place), \(count == 0 ? "none shown" : "first \(NumberText.text(count))")", total]
  }
}
