/// A city, with what its organisations earn together.
public struct City: Sendable, Hashable, Identifiable {
  /// The city's identifier, unique within its origin.
  public let id: String
  /// The city's name, as its origin writes it.
  public let name: String
  /// The state; `nil` where the origin knows none.
  public let subName: String?
  /// The sum of the yearly revenues of its organisations in whole US dollars; `nil` where the origin does not know it.
  public let revenue: Int?
  /// The number of organisations; `nil` where the origin does not know it.
  public let organizationCount: Int?

  /// A city with the given fields.
  public init(id: String, name: String, subName: String?, revenue: Int?, organizationCount: Int?) {
    self.id = id
    self.name = name
    self.subName = subName
    self.revenue = revenue
    self.organizationCount = organizationCount
  }
}
