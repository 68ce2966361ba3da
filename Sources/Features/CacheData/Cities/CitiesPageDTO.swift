// A resource is fetched and kept by means of the cache, whose names its containers use.
@_exported public import CacheCore
public import CacheDomain
internal import EngineAPI

/// A page of cities as it is stored and transferred.
public struct CitiesPageDTO: Codable, Sendable, Hashable {
  /// A city as it is stored and transferred.
  public struct CityDTO: Codable, Sendable, Hashable {
    let id: String
    let name: String
    let subName: String?
    let revenue: Int?
    let organizationCount: Int?
  }

  let page: Int
  let totalPages: Int
  let totalItems: Int
  let items: [CityDTO]
}

extension CitiesPageDTO {
  /// Creates the DTO of `page`.
  public init(_ page: CitiesPage) {
    let items = page.cities.map { city in
      CityDTO(
        id: city.id, name: city.name, subName: city.subName, revenue: city.revenue,
        organizationCount: city.organizationCount)
    }
    self.init(page: page.page, totalPages: page.totalPages, totalItems: page.totalItems, items: items)
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
    let page = try json.page { json throws(JSONReader.Failure) in try CityDTO(json: &json) }
    self.init(page: page.page, totalPages: page.totalPages, totalItems: page.totalItems, items: page.items)
  }

  /// Writes the page, its members in the order of their names.
  public func write(to json: inout JSONWriter) {
    json.page(page, totalPages: totalPages, totalItems: totalItems, items) { json, city in city.write(to: &json) }
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

/// The members that every page has, in the order in which they are written.
private enum PageMember: Int {
  case items, page, totalItems, totalPages

  static let names = JSONNames(["items", "page", "totalItems", "totalPages"])
}

extension JSONReader {
  mutating func page<Item>(
    of item: (inout JSONReader) throws(Failure) -> Item
  ) throws(Failure) -> (page: Int, totalPages: Int, totalItems: Int, items: [Item]) {
    // Enough room for the items of most pages.
    let usualItems = 20
    var (page, totalPages, totalItems, items) = (Int?.none, Int?.none, Int?.none, [Item]?.none)
    try object(PageMember.names) { json, member throws(Failure) in
      switch PageMember(rawValue: member) {
      case .items: items = try json.array(capacity: usualItems, of: item)
      case .page: page = try json.integer()
      case .totalItems: totalItems = try json.integer()
      case .totalPages: totalPages = try json.integer()
      case nil: try json.skipValue()
      }
    }
    return (
      try required(page, "page"), try required(totalPages, "totalPages"), try required(totalItems, "totalItems"),
      try required(items, "items")
    )
  }

  /// Reads a whole number, or `null` as `nil`.
  fileprivate mutating func optionalInteger() throws(Failure) -> Int? {
    try optional { json throws(Failure) in try json.integer() }
  }
}

extension JSONWriter {
  mutating func page<Item>(
    _ page: Int, totalPages: Int, totalItems: Int, _ items: [Item], _ item: (inout JSONWriter, Item) -> Void
  ) {
    object { json in
      json.name("items")
      json.array(items, item)
      json.member("page", page)
      json.member("totalItems", totalItems)
      json.member("totalPages", totalPages)
    }
  }
}
