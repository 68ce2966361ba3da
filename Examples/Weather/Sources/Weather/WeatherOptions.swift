public import CachectlTool

/// `fetch weather PLACE` and `explain weather PLACE`.
public struct WeatherOptions: FetchableOptions {
  /// "weather".
  public static var resourceName: String { "weather" }
  /// The description of `fetch weather`.
  public static var abstract: String { "Fetch the weather of a place" }
  /// An example.
  public static var examples: [String] { ["cachectl fetch weather Bern"] }

  @Argument(help: "The place, such as Bern")
  var place: String

  /// The options with their defaults.
  public init() {}

  /// Fetches the report through the cache.
  public func snapshots(
    _ context: ResourceContext, _ options: FetchOptions
  ) throws(CacheError) -> Snapshots<ShownWeather> {
    let settings = context.configuration.section(WeatherSettings.self)
    let origin: any WeatherOrigin =
      if settings.kind == .http, let address = settings.address {
        HTTPWeatherOrigin(try context.server(at: address, settings.transport))
      } else {
        SampleWeatherOrigin()
      }
    return fetch(
      WeatherRequest(origin: origin.name, place: place.lowercased()),
      storage: EngineResponseStorage<WeatherRequest, WeatherReport>(store: context.store, codec: .json), origin: origin,
      services: context.services, options: options
    ) { ShownWeather(report: $0, unit: settings.unit) }
  }

  /// The view of the report: members of the JSON document, most of them with a line for people.
  public func view(of snapshot: Snapshot<ShownWeather>, backend: String) -> SnapshotView {
    let (report, unit) = (snapshot.value.report, snapshot.value.unit)
    let degrees = unit == .celsius ? report.celsius : report.celsius &* 9 / 5 &+ 32
    return SnapshotView(
      snapshot, of: WeatherRequest.resource, backend: backend,
      [
        Field("place", .string(report.place), "Place", .init(report.place, .bold)),
        Field("sky", .string(report.sky), "Sky"),
        Field("temperature", .integer(degrees), "Temperature", "\(String(degrees)) °\(unit == .celsius ? "C" : "F")"),
        Field("unit", .string(unit.rawValue)),
      ])
  }
}

/// A report, and the unit in which its temperature is shown.
public struct ShownWeather: Sendable {
  let report: WeatherReport
  let unit: WeatherSettings.Unit
}

extension ToolResource {
  /// The weather, for the list of resources of a program.
  public static var weather: ToolResource { ToolResource(WeatherOptions.self, sections: [WeatherSettings.self]) }
}
