import CacheBase
import FetchVocabulary
import Foundation
import CacheConfiguration
import ResponseCache
import ResponseCacheConfiguration
import ResponseCacheTesting
import EngineAPI
import Testing

/// Caches that are opened by configuration.
@Suite struct ConfiguredCacheTests {
  @Test(arguments: ["sqlite", "plist"]) func aCacheIsOpenedAndOutlivesItsProgram(engine: String) async throws {
    let program = TestProgram()
    defer { program.remove() }
    let environment = ["WEATHER_BACKEND": engine]
    let first = try await Cache(program.configuration(environment: environment))
    try await first.set("rain", for: "Bern")
    try await first.close()
    let second = try await Cache(program.configuration(environment: environment))
    #expect(try await second.value(String.self, for: "Bern") == "rain")
    try await second.close()
  }

  @Test func programsWithDifferentNamesShareNothing() async throws {
    let program = TestProgram()
    defer { program.remove() }
    let environment = ["WEATHER_BACKEND": "plist", "WEATHER_MAP_CACHE_MAX_ENTRIES": "3"]
    try program.write(#"{"cache": {"timeToLive": "5m"}}"#, to: "home/.config/weather/config.json")
    let weather = try program.configuration("weather", environment: environment)
    let map = try program.configuration("weather-map", environment: environment)
    #expect(weather.limits == .standard && map.limits.maxEntries == 3)
    #expect(map.location.plugin.declaration.name == "sqlite" && map.file == nil)
    let caches = (try await Cache(weather), try await Cache(map))
    try await caches.0.set("rain", for: "Bern")
    #expect(try await caches.1.value(String.self, for: "Bern") == nil)
    try await caches.0.close()
    try await caches.1.close()
  }

  @Test func programsOnOneServerHaveStoresOfTheirOwn() throws {
    for (name, settings, prefix) in [
      ("weather", [:], "weather"), ("weather-map", [:], "weather-map"), ("weather", ["prefix": "shared"], "shared"),
    ] as [(String, [String: String], String)] {
      let keys = settings.map { ("backends.server.\($0.key)", $0.value) }
      let configuration = try TestProgram().configuration(
        name, engines: [ServerPlugin()], settings: Dictionary(uniqueKeysWithValues: keys))
      #expect(configuration.location.options["prefix"] == .text(prefix))
    }
  }

  @Test func aSecretIsGivenToTheEngineAndNotShown() throws {
    let program = TestProgram()
    defer { program.remove() }
    try program.write(
      #"{"backends": {"server": {"password": {"env": "TOKEN"}}}}"#, to: "home/.config/weather/config.json")
    let configuration = try program.configuration(engines: [ServerPlugin()], environment: ["TOKEN": "hush"])
    #expect(configuration.location.options["password"] == .text("hush"))
    #expect(!configuration.settings.contains { "\($0)".contains("hush") })
    let error = #expect(throws: CacheError.self) { try program.configuration(engines: [ServerPlugin()]) }
    #expect(error?.code == .invalidOption && error?.hint == "set TOKEN")
  }

  @Test func theConfiguredTimesAreThoseOfResourcesWithoutTimes() async throws {
    let program = TestProgram()
    defer { program.remove() }
    let clock = ManualClock()
    let configuration = try program.configuration(
      settings: ["cache.timeToLive": "1m", "cache.staleIfError": "2m", "cache.staleWhileRevalidate": "0s"])
    let cache = try await Cache(configuration, clock: clock)
    let origin = FakeOrigin { (city: String) in "rain in \(city)" }
    let configured = cache.resource("configured", fetch: origin.fetch)
    let own = cache.resource("own", freshFor: .seconds(600), fetch: origin.fetch)
    for resource in [configured, own] { _ = try await resource("Bern") }
    clock.advance(by: .seconds(61))
    for resource in [configured, own] { _ = try await resource("Bern") }
    #expect(origin.queries.count == 3, "the configured minute is over, the program's ten are not")
    struct Offline: Error {}
    origin.fail(with: Offline())
    clock.advance(by: .seconds(90))
    #expect(try await configured("Bern") == "rain in Bern")
    clock.advance(by: .seconds(91))
    await #expect(throws: Offline.self) { try await configured("Bern") }
    try await cache.close()
  }

  @Test func theConfiguredLimitsAreKept() async throws {
    let program = TestProgram()
    defer { program.remove() }
    let cache = try await Cache(program.configuration(settings: ["cache.maxEntries": "2"]))
    for number in 1...5 { try await cache.set(number, for: "\(number)") }
    #expect(try await cache.keys().count <= 2)
    try await cache.close()
  }
}
