// The declarations that the snippets of README.md and docs/library.md use.
import ResponseCache

struct User: Codable, Equatable {
  let id: Int
  let name: String
}

struct Weather: Codable, Equatable {
  let city: String
  let celsius: Int
}

/// The client of a service.
struct API {
  struct Offline: Error {}

  func weather(_ city: String, fahrenheit: Bool = false) async throws -> Weather {
    Weather(city: city, celsius: fahrenheit ? 48 : 9)
  }
}

let api = API()

/// A key of 32 bytes.
let key = String(repeating: "0a", count: 32)

func show(_ weather: Weather) { print(weather.city) }
