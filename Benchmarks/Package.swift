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

/// The benchmarks are a separate package, so that building and testing the project does not build them.
let package = Package(
  name: "benchmarks",
  // The name of the file is that of the engine.
  products: [.library(name: "cachectl-lmdb", type: .dynamic, targets: ["LMDBLibrary"])],
  dependencies: [.package(name: "cachectl", path: "..")],
  targets: [
    .executableTarget(
      name: "Driver",
      dependencies: products(
        "CacheBase", "BuiltInEngines", "RedisStorage", "LibraryStorage", "ResponseCache", "CacheFeatures",
        "EngineBenchmark"),
      swiftSettings: settings),
    // As Examples/SwiftEngine builds one: with the Swift runtime in it, and one exported name.
    .target(
      name: "LMDBLibrary", dependencies: products("LMDBStorage", "EngineExport"), swiftSettings: settings,
      linkerSettings: [
        .unsafeFlags([
          "-static-stdlib", "-Xlinker",
          "--version-script=\(Context.packageDirectory)/../Examples/SwiftEngine/exports.map",
        ])
      ]),
    .executableTarget(name: "Transfer", dependencies: products("CacheBase", "CurlTransport"), swiftSettings: settings),
  ]
)
