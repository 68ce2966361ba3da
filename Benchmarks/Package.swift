// swift-tools-version: 6.2
import PackageDescription

let features = [
  "ExistentialAny", "ImmutableWeakCaptures", "InferIsolatedConformances", "InternalImportsByDefault",
  "MemberImportVisibility", "NonisolatedNonsendingByDefault",
]
let settings: [SwiftSetting] = features.map { .enableUpcomingFeature($0) }

/// The benchmarks are a package of their own, so that building and testing the project does not build them.
let package = Package(
  name: "benchmarks",
  dependencies: [.package(name: "cachectl", path: "..")],
  targets: [
    .executableTarget(
      name: "Driver",
      dependencies: [
        .product(name: "Platform", package: "cachectl"),
        .product(name: "BuiltInEngines", package: "cachectl"), .product(name: "LibraryStorage", package: "cachectl"),
        .product(name: "ResponseCache", package: "cachectl"), .product(name: "CacheFeatures", package: "cachectl"),
        .product(name: "StorageBenchmark", package: "cachectl"), .product(name: "ZstdTransform", package: "cachectl"),
      ],
      swiftSettings: settings),
    // Reads from one thread, and from two at once.
    .executableTarget(
      name: "Reads",
      dependencies: [
        .product(name: "Platform", package: "cachectl"), .product(name: "StorageSPI", package: "cachectl"),
        .product(name: "BuiltInEngines", package: "cachectl"),
      ],
      swiftSettings: settings),
    // What Swift programs on Linux use now, beside this.
    .executableTarget(
      name: "Comparison",
      dependencies: [
        .product(name: "ResponseCache", package: "cachectl"), .product(name: "BuiltInEngines", package: "cachectl"),
      ], swiftSettings: settings),
    .executableTarget(
      name: "Transfer",
      dependencies: [
        .product(name: "Platform", package: "cachectl"), .product(name: "Transport", package: "cachectl"),
      ], swiftSettings: settings),
  ]
)
