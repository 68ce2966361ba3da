public import CacheDomain

/// Cities from ProPublica's Nonprofit Explorer, version 2 of its interface, or a server that answers like it.
///
/// It searches organisations. A page of them becomes a page of their cities, in the order in which those first occur on
/// it, each with the number of its organisations on that page; so a city may occur on several pages. Total numbers are
/// those of organisations and their pages. The order is sent, but the server ignores it, and it knows no revenue.
public struct ProPublicaCityOrigin: CityOrigin, HTTPOrigin {
  /// The address of the public server.
  public static var address: String { "https://projects.propublica.org/" }

  /// The server.
  public let server: OriginServer
  /// "propublica" for the public server; for another one with its address, as in "propublica@localhost:8080".
  public let name: String

  /// The origin at `server`.
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

  /// A search that found nothing is answered with the status 404 and an ordinary body.
  public func isAnswer(_ response: HTTPResponse) -> Bool {
    guard response.head.status == 404 else { return response.head.isSuccess }
    return (try? search(response))?.totalResults == 0
  }

  /// The cities of the organisations in `response`.
  ///
  /// - Throws: `CacheError` with the code `invalidAnswer`.
  public func decode(_ response: HTTPResponse, for request: CitiesRequestDTO) throws(CacheError) -> CitiesPageDTO {
    CitiesPageDTO(try search(response).page(request.query.page))
  }

  private func search(_ response: HTTPResponse) throws(CacheError) -> ProPublicaSearchDTO {
    try JSONAnswer.read(response, origin: name) { json throws(AnswerValue.Mistake) in try ProPublicaSearchDTO(json) }
  }
}
