// swift-tools-version: 6.2
import PackageDescription

let features = [
  "ExistentialAny", "ImmutableWeakCaptures", "InferIsolatedConformances", "InternalImportsByDefault",
  "MemberImportVisibility", "NonisolatedNonsendingByDefault",
]
let settings: [SwiftSetting] = features.map { .enableUpcomingFeature($0) }

func products(_ names: String...) -> [Target.Dependency] {
  names.map { .product(name: $0, package: "cachectl") }
}

/// The benchmarks are a package of their own, so that building and testing the project does not build them.
let package = Package(
  name: "benchmarks",
  dependencies: [.package(name: "cachectl", path: "..")],
  targets: [
    .executableTarget(
      name: "Driver",
      dependencies: products("Platform", "BuiltInEngines", "ResponseCache", "CacheFeatures", "StorageBenchmark"),
      swiftSettings: settings),
    .executableTarget(name: "Transfer", dependencies: products("Platform", "CurlTransport"), swiftSettings: settings),
  ]
)
