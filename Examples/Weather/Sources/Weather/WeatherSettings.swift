public import CachectlTool

/// Where weather comes from and how it is shown: the keys of `origin.weather`.
public struct WeatherSettings: ConfigurationSection {
  enum Kind: String, CaseIterable { case sample, http }
  enum Unit: String, CaseIterable { case celsius, fahrenheit }

  /// "origin.weather".
  public static var path: String { "origin.weather" }

  let kind: Kind
  let address: String?
  let unit: Unit
  let transport: Configuration.Transport

  /// Declares and reads the keys.
  public init(_ keys: inout SectionReader) {
    kind = keys.kind(default: .sample, outsideDevelopment: .http, help: "where weather comes from")
    address = keys.address("baseURL", required: [Kind.http], help: "the address of the server")
    unit = keys.choice("unit", default: .celsius, help: "the unit of temperatures")
    transport = keys.transport()
  }
}
