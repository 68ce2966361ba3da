// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
  "ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility", "NonisolatedNonsendingByDefault",
].map { .enableUpcomingFeature($0) }

/// The program as a library. Nothing in it knows of this package.
let tool = Target.Dependency.product(name: "CachectlTool", package: "cachectl")
/// The support for writing an engine, or a layer around one.
let engineSupport = Target.Dependency.product(name: "EngineAPI", package: "cachectl")

let package = Package(
  name: "weather",
  products: [.executable(name: "weather-cachectl", targets: ["weather-cachectl"])],
  dependencies: [.package(name: "cachectl", path: "../..")],
  targets: [
    .target(name: "Weather", dependencies: [tool, engineSupport], swiftSettings: settings),
    .executableTarget(name: "weather-cachectl", dependencies: [tool, "Weather"], swiftSettings: settings),
    .testTarget(name: "WeatherTests", dependencies: [tool, "Weather"], swiftSettings: settings),
  ]
)
