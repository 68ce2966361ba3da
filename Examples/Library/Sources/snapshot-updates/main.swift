// Shows a value twice: as it is in the cache, and then as the service sends it.
import MemoryStorage
import ResponseCache
import WeatherModel

/// Stands for the client of a service whose responses change.
actor WeatherService {
  var celsius = 8

  func weather(_ city: String) -> Weather {
    celsius += 1
    return Weather(city: city, celsius: celsius)
  }
}

let service = WeatherService()
let cache = try await Cache(.memory)
let model = WeatherModel(weather: try cache.resource("weather") { await service.weather($0) })
model.observe { state in print(state) }

print("first:")
await model.show("Bern")
print("again:")
await model.show("Bern")
try await cache.close()
