internal import CacheData
internal import CacheDomain
internal import StorageSPI

extension CitiesPageDTO: JSONPayload {
  init(json: inout JSONReader) throws(JSONReader.Failure) {
    var (frame, cities) = (PageFrame(), [City]?.none)
    try json.object { json, name throws(JSONReader.Failure) in
      if name == "items" {
        cities = try json.array { json throws(JSONReader.Failure) in try City(json: &json) }
      } else {
        try frame.read(name, &json)
      }
    }
    self.init(
      CitiesPage(
        page: try json.required(frame.page, "page"), totalPages: try json.required(frame.totalPages, "totalPages"),
        totalItems: try json.required(frame.totalItems, "totalItems"), cities: try json.required(cities, "items")))
  }
}

extension City {
  fileprivate init(json: inout JSONReader) throws(JSONReader.Failure) {
    var (id, name, subName) = (String?.none, String?.none, String?.none)
    var (revenue, organizationCount) = (Int?.none, Int?.none)
    try json.object { json, member throws(JSONReader.Failure) in
      switch member {
      case "id": id = try json.string()
      case "name": name = try json.string()
      case "subName": subName = try json.optional { json throws(JSONReader.Failure) in try json.string() }
      case "revenue": revenue = try json.optional { json throws(JSONReader.Failure) in try json.integer() }
      case "organizationCount":
        organizationCount = try json.optional { json throws(JSONReader.Failure) in try json.integer() }
      default: try json.skipValue()
      }
    }
    self.init(
      id: try json.required(id, "id"), name: try json.required(name, "name"), subName: subName, revenue: revenue,
      organizationCount: organizationCount)
  }
}
