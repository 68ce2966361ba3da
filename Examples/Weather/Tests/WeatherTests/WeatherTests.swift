import CachectlTool
import Testing

@testable import Weather

@Suite struct WeatherTests {
  @Test func theSampleKnowsItsPlaces() async throws {
    let origin = SampleWeatherOrigin()
    for report in SampleWeatherOrigin.reports {
      let request = WeatherRequest(origin: "sample", place: report.place.lowercased())
      #expect(try await origin.answer(to: request, conditions: [:]).response == report)
    }
    await #expect(throws: CacheError.self) {
      try await origin.answer(to: WeatherRequest(origin: "sample", place: "atlantis"), conditions: [:])
    }
  }
}
