public import CacheDomain
@_exported public import CacheCore
internal import EngineAPI
// A resource is fetched and kept by means of the cache, whose names its containers use.

/// A page of cities as it is stored and transferred.
public struct CitiesPageDTO: Codable, Sendable, Hashable {
  /// A city as it is stored and transferred.
  public struct CityDTO: Codable, Sendable, Hashable {
    package let id: String
    package let name: String
    package let subName: String?
    package let revenue: Int?
    package let organizationCount: Int?

    /// Creates the DTO of a city.
    package init(id: String, name: String, subName: String?, revenue: Int?, organizationCount: Int?) {
      self.id = id
      self.name = name
      self.subName = subName
      self.revenue = revenue
      self.organizationCount = organizationCount
    }
  }

  package let page: Int
  package let totalPages: Int
  package let totalItems: Int
  package let items: [CityDTO]

  /// Creates the DTO of a page from its fields.
  package init(page: Int, totalPages: Int, totalItems: Int, items: [CityDTO]) {
    (self.page, self.totalPages, self.totalItems, self.items) = (page, totalPages, totalItems, items)
  }

  /// Creates the DTO of `page`.
  public init(_ page: CitiesPage) {
    self.page = page.page
    self.totalPages = page.totalPages
    self.totalItems = page.totalItems
    self.items = page.cities.map { city in
      CityDTO(
        id: city.id, name: city.name, subName: city.subName, revenue: city.revenue,
        organizationCount: city.organizationCount)
    }
  }

  /// The page as the domain represents it.
  public func toDomain() -> CitiesPage {
    CitiesPage(
      page: page, totalPages: totalPages, totalItems: totalItems,
      cities: items.map { city in
        City(
          id: city.id, name: city.name, subName: city.subName, revenue: city.revenue,
          organizationCount: city.organizationCount)
      })
  }
}

extension CitiesPageDTO: JSONPayload {
  /// Reads a page of cities as `write` has written it.
  ///
  /// - Throws: `JSONReader.Failure` if the document has another shape.
  public init(json: inout JSONReader) throws(JSONReader.Failure) {
    let frame = try PageFrame(json: &json) { json throws(JSONReader.Failure) in try CityDTO(json: &json) }
    self.init(page: frame.page, totalPages: frame.totalPages, totalItems: frame.totalItems, items: frame.items)
  }

  /// Writes the page, its members in the order of their names.
  public func write(to json: inout JSONWriter) {
    let frame = PageFrame(page: page, totalPages: totalPages, totalItems: totalItems, items: items)
    frame.write(to: &json) { json, city in city.write(to: &json) }
  }
}

extension CitiesPageDTO.CityDTO {
  /// The members, in the order in which they are written.
  private enum Member: Int {
    case id, name, organizationCount, revenue, subName
  }

  private static let names = JSONNames(["id", "name", "organizationCount", "revenue", "subName"])

  fileprivate init(json: inout JSONReader) throws(JSONReader.Failure) {
    var (id, name, subName) = (String?.none, String?.none, String?.none)
    var (revenue, organizationCount) = (Int?.none, Int?.none)
    try json.object(Self.names) { json, member throws(JSONReader.Failure) in
      switch Member(rawValue: member) {
      case .id: id = try json.string()
      case .name: name = try json.string()
      case .organizationCount: organizationCount = try json.optionalInteger()
      case .revenue: revenue = try json.optionalInteger()
      case .subName: subName = try json.optionalString()
      case nil: try json.skipValue()
      }
    }
    self.init(
      id: try json.required(id, "id"), name: try json.required(name, "name"), subName: subName, revenue: revenue,
      organizationCount: organizationCount)
  }

  fileprivate func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("id", id)
      json.member("name", name)
      json.member("organizationCount", organizationCount)
      json.member("revenue", revenue)
      json.member("subName", subName)
    }
  }
}

extension JSONReader {
  /// Reads a whole number, or `null` as `nil`.
  fileprivate mutating func optionalInteger() throws(Failure) -> Int? {
    try optional { json throws(Failure) in try json.integer() }
  }
}

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
