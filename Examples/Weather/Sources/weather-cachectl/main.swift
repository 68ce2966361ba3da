internal import CachectlTool
internal import Weather

Cachectl(
  transforms: .standard + [MirroredSettings.self], resources: .standard + [.weather],
  policies: .standard + [.largestFirst],
  commands: .standard + [WeatherPlacesCommand.self]
).run()
