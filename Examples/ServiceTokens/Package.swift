// swift-tools-version: 6.2
import PackageDescription

let features = [
  "ExistentialAny", "ImmutableWeakCaptures", "InferIsolatedConformances", "InternalImportsByDefault",
  "MemberImportVisibility", "NonisolatedNonsendingByDefault",
]
let settings: [SwiftSetting] = features.map { .enableUpcomingFeature($0) }

/// The cache, and what opens one by the configuration of the tool. Nothing in them knows of this package.
let cache = Target.Dependency.product(name: "ResponseCache", package: "cachectl")
let composition = Target.Dependency.product(name: "CachectlTool", package: "cachectl")

let package = Package(
  name: "service-tokens",
  products: [.executable(name: "service-tokens", targets: ["service-tokens"])],
  dependencies: [.package(name: "cachectl", path: "../..")],
  targets: [
    .target(name: "ServiceTokensDomain", dependencies: [cache], swiftSettings: settings),
    .target(name: "ServiceTokensData", dependencies: [cache, "ServiceTokensDomain"], swiftSettings: settings),
    .target(
      name: "ServiceTokensEntries", dependencies: [cache, "ServiceTokensData", "ServiceTokensDomain"],
      swiftSettings: settings),
    .target(
      name: "ServiceTokens",
      dependencies: [cache, composition, "ServiceTokensData", "ServiceTokensDomain", "ServiceTokensEntries"],
      swiftSettings: settings),
    .executableTarget(
      name: "service-tokens", dependencies: [.product(name: "CacheBase", package: "cachectl"), "ServiceTokens"],
      swiftSettings: settings),
    .testTarget(
      name: "ServiceTokensTests",
      dependencies: [
        cache, composition, "ServiceTokens", "ServiceTokensData", "ServiceTokensDomain", "ServiceTokensEntries",
      ],
      swiftSettings: settings),
  ]
)
