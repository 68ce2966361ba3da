public import CacheDomain

/// A page of cities as it is stored and transferred.
public struct CitiesPageDTO: Codable, Sendable, Hashable {
  /// A city as it is stored and transferred.
  public struct CityDTO: Codable, Sendable, Hashable {
    let id: String
    let name: String
    let subName: String?
    let revenue: Int?
    let organizationCount: Int?

    /// The DTO of a city with the given fields.
    package init(id: String, name: String, subName: String?, revenue: Int?, organizationCount: Int?) {
      self.id = id
      self.name = name
      self.subName = subName
      self.revenue = revenue
      self.organizationCount = organizationCount
    }

    /// The city in an origin's answer.
    public init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: CodingKeys.self)
      id = try members.decode(String.self, forKey: .id)
      name = try members.decode(String.self, forKey: .name)
      subName = try members.decodeIfPresent(String.self, forKey: .subName)
      revenue = try members.decodeIfPresent(WholeNumber.self, forKey: .revenue)?.value
      organizationCount = try members.decodeIfPresent(WholeNumber.self, forKey: .organizationCount)?.value
    }
  }

  let page: Int
  let totalPages: Int
  let totalItems: Int
  let items: [CityDTO]

  /// The DTO of a page with the given parts.
  package init(page: Int, totalPages: Int, totalItems: Int, items: [CityDTO]) {
    (self.page, self.totalPages, self.totalItems, self.items) = (page, totalPages, totalItems, items)
  }

  /// The page in an origin's answer, whose numbers are those that a page can have.
  public init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    page = try members.decode(WholeNumber.self, forKey: .page).value
    totalPages = try members.decode(Count.self, forKey: .totalPages).value
    totalItems = try members.decode(Count.self, forKey: .totalItems).value
    items = try members.decode([CityDTO].self, forKey: .items)
  }

  /// The DTO of a page.
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

  /// The page that this is the DTO of.
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
