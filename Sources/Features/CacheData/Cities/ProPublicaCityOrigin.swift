public import FetchVocabulary

/// Cities from ProPublica's Nonprofit Explorer API, version 2, or from a server that answers like it.
///
/// The server searches organisations. A page of organisations becomes a page of their cities, in order of first
/// occurrence, each with the number of its organisations on that page. So a city may occur on several pages. The totals
/// count organisations and their pages. The order is sent, but the server ignores it, and it knows no city's revenue.
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
        Endpoint.Parameter("order", query.order.rawValue), Endpoint.Parameter("sort_order", query.direction.rawValue),
        Endpoint.Parameter("page", String(query.page)),
      ], fields: ["Accept": "application/json"])
  }

  /// Accepts a 404 with an ordinary body: the server sends it if a search finds nothing.
  public func isAnswer(_ response: HTTPResponse) -> Bool {
    guard response.head.status == 404 else { return response.head.isSuccess }
    return (try? search(response))?.totalResults == 0
  }

  /// Decodes the cities of the organisations in `response`.
  ///
  /// - Throws: `CacheError` with the code `invalidAnswer`.
  public func decode(_ response: HTTPResponse, for request: CitiesRequestDTO) throws(CacheError) -> CitiesPageDTO {
    CitiesPageDTO(try search(response).page(request.query.page))
  }

  private func search(_ response: HTTPResponse) throws(CacheError) -> ProPublicaSearchDTO {
    try JSONAnswer.read(response, origin: name) { json throws(AnswerValue.Mistake) in try ProPublicaSearchDTO(json) }
  }
}
