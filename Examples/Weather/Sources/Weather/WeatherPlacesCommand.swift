public import CachectlTool

/// `weather-places`: a separate command.
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
  public func run() async throws {
    let place = Column<WeatherReport>("place", .init("Place")) { .string($0.place) }
    try global.show(ListView(SampleWeatherOrigin.reports, [place]) { ["places": .array($0)] })
  }
}
