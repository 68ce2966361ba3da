internal import CachectlTool
internal import Weather

Cachectl(resources: .standard + [.weather], commands: .standard + [WeatherPlacesCommand.self]).run()
