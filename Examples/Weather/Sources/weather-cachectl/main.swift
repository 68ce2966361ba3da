internal import CachectlTool
internal import Weather

Cachectl(
  transforms: .standard + [MirroredSettings.self], layers: .standard + [FailingSettings.self],
  resources: .standard + [.weather], policies: .standard + [.largestFirst],
  commands: .standard + [CommandGroup(name: "Weather", subcommands: [WeatherPlacesCommand.self])]
).run()
