// swift-tools-version: 6.2
import PackageDescription

let features = [
  "ExistentialAny", "ImmutableWeakCaptures", "InferIsolatedConformances", "InternalImportsByDefault",
  "MemberImportVisibility", "NonisolatedNonsendingByDefault",
]
let products = [
  "CacheFeatures", "CachectlTool", "CurlTransport", "EngineAPI", "LMDBStorage", "PlistStorage", "ResponseCache",
]

/// The fuzzers are a separate package, because all of it must be built with `--sanitize=fuzzer`, and one program,
/// because each would take as long to link. libFuzzer brings `main`: hence the flag. See `run`.
let package = Package(
  name: "fuzzing",
  dependencies: [.package(name: "cachectl", path: "..")],
  targets: [
    .executableTarget(
      name: "Fuzz", dependencies: products.map { .product(name: $0, package: "cachectl") },
      swiftSettings: features.map { .enableUpcomingFeature($0) } + [.unsafeFlags(["-parse-as-library"])])
  ]
)
