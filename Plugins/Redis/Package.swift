// swift-tools-version: 6.2
import PackageDescription

/// The same upcoming language features as in the core's package.
let features = [
  "ExistentialAny", "ImmutableWeakCaptures", "InferIsolatedConformances", "InternalImportsByDefault",
  "MemberImportVisibility", "NonisolatedNonsendingByDefault",
]
let settings: [SwiftSetting] = features.map { .enableUpcomingFeature($0) }

func core(_ product: String) -> Target.Dependency { .product(name: product, package: "cachectl") }

/// An engine as a shared library, which contains the Swift runtime and exports only `cachectl_plugin`.
func library(_ engine: String) -> Target {
  #if os(macOS)
    let flags = ["-Xlinker", "-exported_symbol", "-Xlinker", "_cachectl_plugin"]
  #else
    let flags = ["-static-stdlib", "-Xlinker", "--version-script=\(Context.packageDirectory)/exports.map"]
  #endif
  return .target(
    name: "\(engine)Library", dependencies: [core("RedisStorage"), core("StoragePluginExport")],
    swiftSettings: settings,
    linkerSettings: [.unsafeFlags(flags)])
}

let package = Package(
  name: "cachectl-redis",
  platforms: [.macOS(.v26)],
  products: [
    .library(name: "cachectl-redis", type: .dynamic, targets: ["RedisLibrary"]),
    .library(name: "cachectl-rediscluster", type: .dynamic, targets: ["RedisClusterLibrary"]),
    .library(name: "cachectl-rediscache", type: .dynamic, targets: ["RedisCacheLibrary"]),
  ],
  dependencies: [.package(name: "cachectl", path: "../..", traits: ["Redis"])],
  targets: [
    // The engines as libraries that cachectl loads.
    library("Redis"),
    library("RedisCluster"),
    library("RedisCache"),
    // A program that tests run several times at once: for tests only, and in no product.
    .executableTarget(
      name: "RedisExerciser",
      dependencies: [core("RedisStorage"), core("Platform"), core("ResponseCache"), core("StorageSPI")],
      path: "Tests/RedisExerciser",
      swiftSettings: settings),
    .testTarget(
      name: "RedisStorageTests",
      dependencies: [
        "RedisExerciser", core("cachectl"), core("RedisStorage"), core("StorageSPI"), core("StorageConformance"),
        core("LibraryStorage"), core("ResponseCache"), core("BuiltInEngines"),
      ],
      swiftSettings: settings),
  ]
)
