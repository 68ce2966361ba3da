// swift-tools-version: 6.2
import PackageDescription

func product(_ name: String) -> Target.Dependency { .product(name: name, package: "cachectl") }

let package = Package(
  name: "library-examples",
  dependencies: [.package(name: "cachectl", path: "../..")],
  targets: [
    .executableTarget(name: "cached-values", dependencies: [product("ResponseCache"), product("LMDBStorage")]),
    .executableTarget(name: "cached-resource", dependencies: [product("ResponseCache"), product("SQLiteStorage")]),
    .executableTarget(
      name: "cached-requests",
      dependencies: [product("ResponseCache"), product("CurlTransport"), product("LMDBStorage")]),
    .executableTarget(
      name: "configured-cache",
      dependencies: [product("ResponseCacheConfiguration"), product("LMDBStorage"), product("SQLiteStorage")]),
    .target(name: "WeatherModel", dependencies: [product("ResponseCache")]),
    .executableTarget(
      name: "snapshot-updates",
      dependencies: ["WeatherModel", product("ResponseCache"), product("MemoryStorage")]),
    // Stands for a package of others.
    .target(name: "HTTPTypes"),
    .testTarget(
      name: "WeatherModelTests",
      dependencies: [
        "WeatherModel", "HTTPTypes", product("ResponseCache"), product("ResponseCacheTesting"),
        product("CurlTransport"),
      ]),
  ]
)
