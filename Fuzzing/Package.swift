// swift-tools-version: 6.2
import PackageDescription

let features = [
  "ExistentialAny", "ImmutableWeakCaptures", "InferIsolatedConformances", "InternalImportsByDefault",
  "MemberImportVisibility", "NonisolatedNonsendingByDefault",
]

/// A program that gives a decoder the bytes that libFuzzer thinks of. libFuzzer brings `main`: hence the flag.
func fuzzer(
  _ name: String,
  _ products: [String] = [
    "ResponseCache", "CacheFeatures", "CachectlTool", "EngineAPI", "EngineAPI", "BuiltInEngines",
  ]
) -> Target {
  .executableTarget(
    name: name,
    dependencies: products.map { .product(name: $0, package: "cachectl") },
    swiftSettings: features.map { .enableUpcomingFeature($0) } + [.unsafeFlags(["-parse-as-library"])])
}

/// The fuzzers are a package of their own, because all of it has to be built with `--sanitize=fuzzer`: see `run`.
let package = Package(
  name: "fuzzing",
  dependencies: [.package(name: "cachectl", path: "..")],
  targets: [
    fuzzer("FuzzPlistFile"), fuzzer("FuzzLMDBEntry"), fuzzer("FuzzLMDBFile"), fuzzer("FuzzConfiguration"),
    fuzzer("FuzzStoredPage"), fuzzer("FuzzHTTPFields"), fuzzer("FuzzHeadReader", ["CurlTransport"]),
    fuzzer("FuzzExportedEntry"),
  ]
)
