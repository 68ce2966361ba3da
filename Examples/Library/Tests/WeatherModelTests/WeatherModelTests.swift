import ResponseCache
import ResponseCacheTesting
import Testing
import WeatherModel

/// A resource and the model over it, without a network and without waiting.
@MainActor
@Suite struct WeatherModelTests {
  struct NoNetwork: Error {}

  let clock = ManualClock()
  let service = FakeOrigin { (city: String) in Weather(city: city, celsius: 9) }

  private func weather(_ cache: Cache) throws -> Resource<String, Weather> {
    try cache.resource("weather", freshFor: .seconds(600), staleIfError: .seconds(3600), fetch: service.fetch)
  }

  @Test func theResourceBehaves() async throws {
    let values = (Weather(city: "Bern", celsius: 9), Weather(city: "Quito", celsius: 14))
    try await checkResource(queries: ("Bern", "Quito"), values: values) { cache, fetch in
      try cache.resource("weather", freshFor: .seconds(600), fetch: fetch)
    }
  }

  @Test func theServiceGetsOneRequestInTenMinutes() async throws {
    let weather = try weather(try await Cache.inMemory(clock: clock))
    for _ in 0..<3 { _ = try await weather("Bern") }
    #expect(service.queries == ["Bern"])
    clock.advance(by: .seconds(600))
    _ = try await weather("Bern")
    #expect(service.queries == ["Bern", "Bern"])
  }

  @Test func theCachedWeatherIsShownFirst() async throws {
    let model = WeatherModel(weather: try weather(try await Cache.inMemory(clock: clock)))
    await model.show("Bern")
    service.answer { Weather(city: $0, celsius: 10) }
    var states: [WeatherModel.State] = []
    model.observe { states.append($0) }
    await model.show("Bern")
    #expect(
      states == [
        .shown(Weather(city: "Bern", celsius: 9), isUpdating: true),
        .shown(Weather(city: "Bern", celsius: 10), isUpdating: false),
      ])
  }

  @Test func theCachedWeatherStaysIfTheServiceFails() async throws {
    let model = WeatherModel(weather: try weather(try await Cache.inMemory(clock: clock)))
    await model.show("Bern")
    service.fail(with: NoNetwork())
    await model.show("Bern")
    #expect(model.state == .shown(Weather(city: "Bern", celsius: 9), isUpdating: false))
  }
}
