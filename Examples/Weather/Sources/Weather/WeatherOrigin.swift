public import CachectlTool

/// An origin of weather: a server or the sample.
public protocol WeatherOrigin: ResponseOrigin where Request == WeatherRequest, Response == WeatherReport {}

/// A server that responds to `GET BASE?place=bern` with `{"place": "Bern", "sky": "rain", "celsius": 9}`.
public struct HTTPWeatherOrigin: WeatherOrigin, HTTPOrigin {
  /// The server.
  public let server: OriginServer
  /// "http" and the address.
  public let name: String

  /// The origin at `server`.
  public init(_ server: OriginServer) {
    self.server = server
    name = server.baseURL.originName("http")
  }

  /// The base URL with the place.
  public func endpoint(for request: WeatherRequest) throws(CacheError) -> Endpoint {
    Endpoint(
      "weather of \(request.place)", baseURL: server.baseURL,
      query: ["place": request.place], fields: ["Accept": "application/json"])
  }

  /// Decodes the report in `response`.
  public func decode(_ response: HTTP.Response, for request: WeatherRequest) throws(CacheError) -> WeatherReport {
    let json = try AnswerValue(response, origin: name)
    return WeatherReport(
      place: try json.member("place").text, sky: try json.member("sky").text,
      celsius: try json.member("celsius").wholeNumber)
  }
}

/// The weather of a few places, always the same: everything can be tried without a network.
public struct SampleWeatherOrigin: WeatherOrigin {
  static let reports = [
    WeatherReport(place: "Bern", sky: "rain", celsius: 9), WeatherReport(place: "Quito", sky: "clouds", celsius: 16),
    WeatherReport(place: "Tromsø", sky: "snow", celsius: -4),
  ]

  /// "sample".
  public var name: String { "sample" }
  /// True: there is no request that several fetches could share.
  public var isInProcess: Bool { true }

  /// The sample.
  public init() {}

  /// The report for the requested place.
  public func answer(
    to request: WeatherRequest, conditions: HTTP.Fields
  ) async throws(CacheError) -> OriginAnswer<WeatherReport> {
    guard let report = Self.reports.first(where: { $0.place.lowercased() == request.place }) else {
      throw CacheError(
        .notFound, "the sample has no weather of '\(request.place)'", hint: "see its places with: weather-places")
    }
    return OriginAnswer(
      head: HTTP.ResponseHead(status: 200, fields: ["cache-control": "max-age=600"]), response: report)
  }
}
