// Reads from a service through a cache. When the service fails, the cache serves a stale value.
import Foundation
import ResponseCache
import SQLiteStorage

struct Weather: Codable {
  let city: String
  let celsius: Int
}

/// Stands for the client of a service.
actor WeatherService {
  struct Offline: Error {}

  var isOffline = false

  func goOffline() { isOffline = true }

  func weather(_ city: String) throws -> Weather {
    if isOffline { throw Offline() }
    print("request to the service: \(city)")
    return Weather(city: city, celsius: 9)
  }
}

guard CommandLine.arguments.count == 2 else {
  print("usage: cached-resource STORE")
  exit(64)
}
let service = WeatherService()
let cache = try await Cache(.sqlite(path: CommandLine.arguments[1]), warn: { print("warning: \($0.error.message)") })
let weather = try cache.resource("weather", freshFor: .seconds(600), staleIfError: .seconds(86_400)) { (city: String) in
  try await service.weather(city)
}

print(try await weather("Bern").celsius, "°C")  // from the service, unless the store has a fresh value
print(try await weather("Bern").celsius, "°C")  // from the cache

try await weather.invalidate("Bern")
await service.goOffline()
print(try await weather("Bern").celsius, "°C")  // the stale value, with a warning

do {
  print(try await weather("Quito").celsius, "°C")
} catch is WeatherService.Offline {
  print("the cache has no value for Quito")
}
try await weather.removeAll()
try await cache.close()
