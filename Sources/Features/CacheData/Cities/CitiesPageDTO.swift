public import CacheDomain

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
