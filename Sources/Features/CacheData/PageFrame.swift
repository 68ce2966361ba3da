internal import ResponseStorage
internal import StorageSPI

/// The members that every page has.
struct PageFrame<Item> {
  let page: Int
  let totalPages: Int
  let totalItems: Int
  let items: [Item]

  /// Enough room for the items of most pages.
  private static var usualItems: Int { 20 }

  /// Creates a page.
  init(page: Int, totalPages: Int, totalItems: Int, items: [Item]) {
    (self.page, self.totalPages, self.totalItems, self.items) = (page, totalPages, totalItems, items)
  }

  /// Reads a page, with `item` for each item.
  init(
    json: inout JSONReader, of item: (inout JSONReader) throws(JSONReader.Failure) -> Item
  ) throws(JSONReader.Failure) {
    var (page, totalPages, totalItems, items) = (Int?.none, Int?.none, Int?.none, [Item]?.none)
    try json.object(PageMember.names) { json, member throws(JSONReader.Failure) in
      switch PageMember(rawValue: member) {
      case .items: items = try json.array(capacity: Self.usualItems, of: item)
      case .page: page = try json.integer()
      case .totalItems: totalItems = try json.integer()
      case .totalPages: totalPages = try json.integer()
      case nil: try json.skipValue()
      }
    }
    self.page = try json.required(page, "page")
    self.totalPages = try json.required(totalPages, "totalPages")
    self.totalItems = try json.required(totalItems, "totalItems")
    self.items = try json.required(items, "items")
  }

  /// Writes the page, with `item` for each item.
  func write(to json: inout JSONWriter, _ item: (inout JSONWriter, Item) -> Void) {
    json.object { json in
      json.name("items")
      json.array(items, item)
      json.member("page", page)
      json.member("totalItems", totalItems)
      json.member("totalPages", totalPages)
    }
  }
}

private enum PageMember: Int {
  case items, page, totalItems, totalPages

  static let names = JSONNames(["items", "page", "totalItems", "totalPages"])
}
