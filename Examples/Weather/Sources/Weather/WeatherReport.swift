public import CachectlTool

/// A request for the weather of a place. Its parameters are the key of the entry.
public struct WeatherRequest: CacheableRequest {
  /// The namespace of the entries.
  public static let resource = "weather"

  /// The origin's name, so that responses of two origins never mix.
  let origin: String
  /// The place, in lower case.
  let place: String

  /// The origin and the place.
  public var parameters: [(name: String, value: String)] { [("origin", origin), ("place", place)] }
}

/// The weather of a place, as it is stored and shown.
public struct WeatherReport: Sendable, Hashable {
  /// The place, as its inhabitants write it.
  public let place: String
  /// The state of the sky, such as "rain".
  public let sky: String
  /// The temperature in whole degrees Celsius.
  public let celsius: Int

  /// A report.
  public init(place: String, sky: String, celsius: Int) {
    (self.place, self.sky, self.celsius) = (place, sky, celsius)
  }
}

/// How a report is stored.
extension WeatherReport: JSONPayload {
  private static let names = JSONNames(["celsius", "place", "sky"])

  /// Reads what `write` has written.
  public init(json: inout JSONReader) throws(JSONReader.Failure) {
    var (celsius, place, sky) = (Int?.none, String?.none, String?.none)
    try json.object(Self.names) { json, member throws(JSONReader.Failure) in
      switch member {
      case 0: celsius = try json.integer()
      case 1: place = try json.string()
      case 2: sky = try json.string()
      default: try json.skipValue()
      }
    }
    self.init(
      place: try json.required(place, "place"), sky: try json.required(sky, "sky"),
      celsius: try json.required(celsius, "celsius"))
  }

  /// Writes the members in the order of their names.
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("celsius", celsius)
      json.member("place", place)
      json.member("sky", sky)
    }
  }
}
