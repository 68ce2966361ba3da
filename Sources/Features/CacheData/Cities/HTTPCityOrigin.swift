public import CacheDomain

/// Cities from any server that speaks this package's own protocol.
///
/// The request is `GET BASE?page=0&order=revenue&sort=desc`, where BASE is the configured base URL; `page` counts from
/// 0, `order` is `revenue`, `organizations` or `name`, `sort` is `asc` or `desc`. The response is the JSON document
/// that `fetch cities --output json` prints:
///
///     {"resource": "cities", "page": 0, "totalPages": 1, "totalItems": 1, "items": [
///       {"id": "KY/LOUISVILLE", "name": "LOUISVILLE", "subName": "KY", "revenue": 12, "organizationCount": 3}]}
///
/// `page` is the requested page, and an item's `id` and `name` are strings; `subName`, `revenue`, `organizationCount`
/// and `resource` can be null or missing. Other members are ignored. Beyond the last page there are no items. The
/// status reports failures; a `message` in a JSON object is shown to the user.
public struct HTTPCityOrigin: CityOrigin, HTTPOrigin {
  /// The server.
  public let server: OriginServer
  /// "http" and the address, as in "http@localhost:8080/cities".
  public let name: String

  /// Creates the origin at `server`.
  public init(_ server: OriginServer) {
    self.server = server
    name = server.baseURL.originName("http")
  }

  /// The base URL with the query for the page.
  ///
  /// - Throws: `CacheError` with the code `invalidRequest` for a negative page.
  public func endpoint(for request: CitiesRequestDTO) throws(CacheError) -> Endpoint {
    let query = try request.query.checked()
    return Endpoint(
      "page \(query.page) of cities", baseURL: server.baseURL,
      query: [
        "page": String(query.page), "order": query.order.rawValue,
        "sort": query.direction.rawValue,
      ], fields: ["Accept": "application/json"])
  }

  /// Decodes the page in `response`.
  ///
  /// - Throws: `CacheError` with the code `invalidAnswer`, even if it is a valid page but not the requested one.
  public func decode(_ response: HTTP.Response, for request: CitiesRequestDTO) throws(CacheError) -> CitiesPageDTO {
    let json = try AnswerValue(response, origin: name)
    let page = try CitiesPageDTO(json)
    if let resource = try json.optionalMember("resource"), try resource.text != CitiesRequestDTO.resource {
      throw resource.mistake("is not '\(CitiesRequestDTO.resource)'")
    }
    guard page.page == request.query.page else {
      throw .invalidAnswer(name, "page \(page.page) of cities for page \(request.query.page)")
    }
    return page
  }
}

/// A page in the protocol's format, with its page and item counts.
extension CitiesPageDTO {
  fileprivate init(_ json: AnswerValue) throws(CacheError) {
    self.init(
      page: try json.member("page").wholeNumber, totalPages: try json.member("totalPages").count,
      totalItems: try json.member("totalItems").count,
      items: try json.member("items").elements.map { element throws(CacheError) in try CityDTO(element) })
  }
}

extension CitiesPageDTO.CityDTO {
  fileprivate init(_ json: AnswerValue) throws(CacheError) {
    self.init(
      id: try json.member("id").text, name: try json.member("name").text,
      subName: try json.optionalMember("subName")?.text, revenue: try json.optionalMember("revenue")?.wholeNumber,
      organizationCount: try json.optionalMember("organizationCount")?.wholeNumber)
  }
}
