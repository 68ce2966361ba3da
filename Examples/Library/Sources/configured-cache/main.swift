// Asks a service through a cache whose engine, place and limits the user of the program configures.
import Foundation
import LMDBStorage
import ResponseCacheConfiguration
import SQLiteStorage

/// Stands for the client of a service.
@Sendable func forecast(for city: String) async throws -> String {
  print("request to the service: \(city)")
  return "rain in \(city)"
}

// KEY=VALUE sets a key of the configuration; any other argument is a city.
let arguments = CommandLine.arguments.dropFirst()
let assignments = arguments.filter { $0.contains("=") }.map { $0.split(separator: "=", maxSplits: 1).map(String.init) }
let settings = Dictionary(assignments.map { ($0[0], $0.count > 1 ? $0[1] : "") }) { $1 }
do {
  let configuration = try CacheConfiguration(
    "forecast", engines: [SQLitePlugin(), LMDBPlugin()], settings: settings)
  for setting in configuration.settings where setting.source != .default {
    print("\(setting.key) is \(setting.text), from \(setting.source)")
  }
  let cache = try await Cache(configuration, warn: { print("warning: \($0.error.message)") })
  let forecasts = try cache.resource("forecasts") { (city: String) in try await forecast(for: city) }
  for city in arguments where !city.contains("=") {
    print(try await forecasts(city), "with", configuration.location.plugin.declaration.name)
  }
  try await cache.close()
} catch let error as CacheError {
  print("forecast: \(error.message): \(error.hint)")
  exit(78)
}
