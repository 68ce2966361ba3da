internal import CachectlTool
internal import Weather

Cachectl(
  transforms: .standard + [MirroredSettings.self], layers: .standard + [FailingSettings.self],
  resources: .standard + [.weather], policies: .standard + [.largestFirst],
  commands: .standard + [WeatherPlacesCommand.self]
).run()
