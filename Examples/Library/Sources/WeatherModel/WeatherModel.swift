import ResponseCache

/// The weather of a city.
package struct Weather: Codable, Equatable, Sendable {
  package let city: String
  package let celsius: Int

  package init(city: String, celsius: Int) {
    self.city = city
    self.celsius = celsius
  }
}

/// The model of a window: it shows the cached weather at once, then the service's.
@MainActor
package final class WeatherModel {
  package enum State: Equatable {
    case empty
    case shown(Weather, isUpdating: Bool)
    case failed(String)
  }

  private let weather: Resource<String, Weather>
  private var observers: [(State) -> Void] = []
  package private(set) var state = State.empty {
    didSet { for observer in observers { observer(state) } }
  }

  package init(weather: Resource<String, Weather>) { self.weather = weather }

  /// Calls `observer` with every new state.
  package func observe(_ observer: @escaping (State) -> Void) { observers.append(observer) }

  /// Shows the weather of `city`. Reading and decoding happen away from the main actor.
  package func show(_ city: String) async {
    do {
      for try await snapshot in weather.snapshots(for: city, policy: .cachedThenNetwork) {
        state = .shown(snapshot.value, isUpdating: snapshot.source == .cache && snapshot.warnings.isEmpty)
      }
    } catch {
      state = .failed("\(error)")
    }
  }
}
