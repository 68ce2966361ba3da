public import CacheDomain

/// Cities from ProPublica's Nonprofit Explorer API, version 2, or from a server that responds like it.
///
/// The server searches organizations. A page of organizations becomes a page of their cities, in order of first
/// occurrence, each with the number of its organizations on that page. So a city can occur on several pages. The totals
/// count organizations and their pages. The order is sent, but the server ignores it, and it knows no city's revenue.
public struct ProPublicaCityOrigin: CityOrigin, HTTPOrigin {
  /// The address of the public server.
  public static var address: String { "https://projects.propublica.org/" }

  /// The server.
  public let server: OriginServer
  /// "propublica" for the public server; for another one with its address, as in "propublica@localhost:8080".
  public let name: String

  /// Creates the origin at `server`.
  public init(_ server: OriginServer) {
    self.server = server
    name = server.baseURL.originName("propublica", known: Self.address)
  }

  /// The search for the page.
  ///
  /// - Throws: `CacheError` with the code `invalidRequest` for a negative page.
  public func endpoint(for request: CitiesRequestDTO) throws(CacheError) -> Endpoint {
    let query = try request.query.checked()
    return Endpoint(
      "page \(query.page) of cities", baseURL: server.baseURL, path: "/nonprofits/api/v2/search.json",
      query: [
        "order": query.order.rawValue, "sort_order": query.direction.rawValue,
        "page": String(query.page),
      ], fields: ["Accept": "application/json"])
  }

  /// Accepts a 404 with an ordinary body: the server sends it if a search finds nothing.
  public func isAnswer(_ response: HTTP.Response) -> Bool {
    guard response.head.status == 404 else { return response.head.isSuccess }
    return (try? search(response))?.totalResults == 0
  }

  /// Decodes the cities of the organizations in `response`.
  ///
  /// - Throws: `CacheError` with the code `invalidAnswer`.
  public func decode(_ response: HTTP.Response, for request: CitiesRequestDTO) throws(CacheError) -> CitiesPageDTO {
    try search(response).page(request.query.page)
  }

  private func search(_ response: HTTP.Response) throws(CacheError) -> ProPublicaSearchDTO {
    try ProPublicaSearchDTO(AnswerValue(response, origin: name))
  }
}

/// A page of organizations, as ProPublica's search returns it. Any key can be missing; the organizations only if there
/// are none.
struct ProPublicaSearchDTO: Sendable {
  /// The city of each organization; `nil` if it has none.
  private let places: [Place?]
  let totalResults: Int?
  private let pages: Int?
  private let pageOffset: Int?
  private let perPage: Int?

  init(_ json: AnswerValue) throws(CacheError) {
    totalResults = try json.optionalMember("total_results")?.count
    pages = try json.optionalMember("num_pages")?.count
    pageOffset = try json.optionalMember("page_offset")?.count
    perPage = try json.optionalMember("per_page")?.count
    let name = "organizations"
    let list = totalResults == 0 ? try json.optionalMember(name) : try json.member(name)
    places = try list?.elements.map { element throws(CacheError) in try Place(element) } ?? []
  }

  /// Page `number`, from 0, of the cities of these organizations.
  func page(_ number: Int) -> CitiesPageDTO {
    let total = totalResults ?? (pageOffset ?? 0).addingSaturated(places.count)
    return CitiesPageDTO(page: number, totalPages: totalPages(of: total), totalItems: total, items: cities)
  }

  /// The number of pages. The page size comes from the response, because the server has changed it before.
  private func totalPages(of total: Int) -> Int {
    if let pages { return pages }
    guard total > 0 else { return 0 }
    let size = [perPage ?? 0, places.count, 1].first { $0 > 0 } ?? 1
    return (total - 1) / size + 1
  }

  /// The cities, in order of their first organizations. Skips organizations without a city.
  private var cities: [CitiesPageDTO.CityDTO] {
    var order: [Place] = []
    var counts: [Place: Int] = [:]
    for place in places.compactMap(\.self) {
      if counts[place] == nil { order.append(place) }
      counts[place, default: 0] += 1
    }
    return order.map { $0.city(organizationCount: counts[$0] ?? 0) }
  }

  /// A city in a state. The state is what the server writes: usually two letters, but also a name, or "ZZ" for abroad.
  private struct Place: Hashable {
    let name: String
    let state: String?

    /// The city of an organization; `nil` if it has none.
    init?(_ organization: AnswerValue) throws(CacheError) {
      let city = try organization.optionalMember("city")?.text
      let state = try organization.optionalMember("state")?.text
      guard let name = city.flatMap(Self.trimmed) else { return nil }
      self.name = name
      self.state = state.flatMap(Self.trimmed)
    }

    func city(organizationCount: Int) -> CitiesPageDTO.CityDTO {
      CitiesPageDTO.CityDTO(
        id: "\(state ?? "")/\(name)", name: name, subName: state, revenue: nil, organizationCount: organizationCount)
    }

    /// `text` with single spaces between words; `nil` if it has no words.
    private static func trimmed(_ text: String) -> String? {
      let words = text.split(whereSeparator: \.isWhitespace)
      return words.isEmpty ? nil : words.joined(separator: " ")
    }
  }
}

extension Int {
  fileprivate func addingSaturated(_ other: Int) -> Int {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? .max : sum
  }
}
