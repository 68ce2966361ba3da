/// A city, with the revenue of all its organisations.
public struct City: Sendable, Hashable, Identifiable {
  /// The city's identifier, unique within its origin.
  public let id: String
  /// The city's name, as its origin writes it.
  public let name: String
  /// The state; `nil` if the origin does not know it.
  public let subName: String?
  /// The total yearly revenue of its organisations in whole US dollars; `nil` if the origin does not know it.
  public let revenue: Int?
  /// The number of organisations; `nil` if the origin does not know it.
  public let organizationCount: Int?

  /// Creates a city.
  public init(id: String, name: String, subName: String?, revenue: Int?, organizationCount: Int?) {
    self.id = id
    self.name = name
    self.subName = subName
    self.revenue = revenue
    self.organizationCount = organizationCount
  }
}
