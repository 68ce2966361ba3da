public import CachectlTool

/// `weather-places`: a command of its own.
public struct WeatherPlacesCommand: AsyncParsableCommand {
  /// The name and the help.
  public static var configuration: CommandConfiguration {
    CommandConfiguration(commandName: "weather-places", abstract: "List the places whose weather the sample knows")
  }

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  /// The command with its defaults.
  public init() {}

  /// Prints the places.
  public func run() async throws { try global.show(PlacesView()) }
}

private struct PlacesView: OutputView {
  private let places = SampleWeatherOrigin.reports.map(\.place)

  var columns: [String] { ["place"] }
  var records: [JSONValue] { places.map { ["place": .string($0)] } }
  var json: JSONValue { ["places": .array(records)] }

  func table(on screen: Screen, hasHeader: Bool) -> String {
    Table([.init("Place")], rows: places.map { [.init($0)] }).text(on: screen, hasHeader: hasHeader)
  }
}
