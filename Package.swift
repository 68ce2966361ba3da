// swift-tools-version: 6.2
import PackageDescription

/// The upcoming language features, in one place for all targets.
let features = [
  "ExistentialAny", "ImmutableWeakCaptures", "InferIsolatedConformances", "InternalImportsByDefault",
  "MemberImportVisibility", "NonisolatedNonsendingByDefault",
]
let settings: [SwiftSetting] = features.map { .enableUpcomingFeature($0) }

/// A target of a level. It may import `CacheBase` and the listed targets: the build rejects anything else. It also lists those
/// that another target exports again: otherwise SwiftPM may not rebuild it after a change.
func layer(_ level: String, _ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .target(
    name: name, dependencies: ["CacheBase"] + dependencies, path: "Sources/\(level)/\(name)", swiftSettings: settings)
}

/// What fetches through the cache. `CacheCore` exports the rules, and these the vocabulary.
let caching: [Target.Dependency] = ["EngineAPI", "FetchVocabulary", "HTTPCaching", "CacheCore"]

let app: [Target.Dependency] = ["CacheDomain", "CacheData", "CachePresentation", "SampleOrigin"]

/// The engines in which the program keeps what it fetches.
let localEngines: [Target.Dependency] = ["MemoryStorage", "PlistStorage", "SQLiteStorage", "LMDBStorage"]

/// A storage engine. SwiftPM means something else by "plugins": hence the explicit path.
func engine(_ folder: String, _ libraries: Target.Dependency..., module: String? = nil) -> Target {
  .target(
    name: "\(folder)Storage", dependencies: ["CacheBase", "EngineAPI"] + libraries, path: "Plugins/\(folder)",
    exclude: ["README.md"] + (module.map { [$0] } ?? []), swiftSettings: settings)
}

/// The tests of one target, which read the files in the folders `data` in place.
func tests(_ name: String, _ dependencies: [Target.Dependency], data: [String] = []) -> Target {
  .testTarget(
    name: name, dependencies: ["CacheBase", "SeededNumbers"] + dependencies, exclude: data, swiftSettings: settings)
}

/// What tests share: in no product.
func testSupport(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .target(name: name, dependencies: ["CacheBase"] + dependencies, path: "Tests/\(name)", swiftSettings: settings)
}

/// A program that tests kill, starve and run many times at once: in no product.
func exerciser(_ name: String, _ engines: [Target.Dependency]) -> Target {
  .executableTarget(
    name: name, dependencies: ["CacheBase", "EngineAPI", "CacheCore", "SeededNumbers"] + engines,
    path: "Tests/\(name)", swiftSettings: settings)
}

let package = Package(
  name: "cachectl",
  platforms: [.macOS(.v26)],
  products: [
    .executable(name: "cachectl", targets: ["cachectl"]),
    // For the author of an engine: its interface, the suite that proves it, the benchmark, and what makes it a shared library.
    .library(name: "CacheBase", targets: ["CacheBase"]),
    .library(name: "EngineAPI", targets: ["CacheBase", "EngineAPI"]),
    .library(name: "EngineConformance", targets: ["EngineConformance"]),
    .library(name: "EngineBenchmark", targets: ["EngineBenchmark"]),
    .library(name: "EngineExport", targets: ["EngineExport", "EngineAPI"]),
    // The cache: values, resources and HTTP over any engine. No feature, no network, no engine.
    .library(
      name: "ResponseCache",
      targets: ["CacheBase", "EngineAPI", "FetchVocabulary", "HTTPCaching", "CacheCore", "ResponseCache"]),
    // The cache, opened as the users of the program have configured it.
    .library(name: "ResponseCacheConfiguration", targets: ["ResponseCacheConfiguration"]),
    // For tests of programs with such a cache.
    .library(name: "ResponseCacheTesting", targets: ["ResponseCacheTesting"]),
    // The cache under a URLSession.
    .library(name: "ResponseCacheURLSession", targets: ["ResponseCacheURLSession"]),
    // Requests to servers, the cache's and others.
    .library(name: "CurlTransport", targets: ["HTTPCaching", "CurlTransport"]),
    // Payload transforms: compression, encryption.
    .library(name: "PayloadTransforms", targets: ["PayloadTransforms"]),
    // What is built on the cache: cities, movies, posters and URLs, with the sample.
    .library(name: "CacheFeatures", targets: ["CacheDomain", "CacheData", "SampleOrigin"]),
    // The program, for one with more resources, engines or commands.
    .library(
      name: "CachectlTool",
      targets: [
        "CacheBase", "EngineAPI", "FetchVocabulary", "HTTPCaching", "CacheCore", "CacheConfiguration", "CacheDomain",
        "CacheData", "CachePresentation", "CommandLineKit", "CachectlTool",
      ]),
    // All engines that are built in.
    .library(
      name: "BuiltInEngines",
      targets: ["MemoryStorage", "PlistStorage", "SQLiteStorage", "LMDBStorage", "RedisStorage"]),
  ]
    // And each alone.
    + ["Memory", "Plist", "SQLite", "LMDB", "Redis", "Library"].map {
      .library(name: "\($0)Storage", targets: ["\($0)Storage"])
    },
  targets: [
    // What every target may use: the platform's C library, which nothing else imports, and what the platforms do differently;
    // the error, JSON, URLs, digits, dates, encodings, digests, and what was meant by a misspelled name.
    .target(name: "CacheBase", path: "Sources/Storage/CacheBase", swiftSettings: settings),
    // The interface of an engine, and what helps its author to keep it: threads, pools, tables, files.
    layer("Storage", "EngineAPI", []),
    // What a process says that a damaged file ends.
    .target(name: "CCrashNotice", path: "Sources/Storage/CCrashNotice"),
    // The interface of engines that are shared libraries: a header, and a check of its layout.
    .target(name: "CCachectlPlugin", path: "Sources/Storage/CCachectlPlugin"),
    // Its values in Swift, for both sides, and an engine in Swift as such a library.
    layer("Storage", "EngineExport", ["EngineAPI", "CCachectlPlugin"]),
    layer("Storage", "EngineConformance", ["EngineAPI"]),
    // The workloads that are built in, and what Swift cannot reach of the C library.
    .target(name: "CEngineBenchmark", path: "Sources/Storage/CEngineBenchmark"),
    layer("Storage", "EngineBenchmark", ["EngineAPI", "CEngineBenchmark"]),

    // The engines.
    engine("Memory"),
    // Engines of others, as shared libraries.
    engine("Library", "CCachectlPlugin", "EngineExport"),
    engine("Plist"),
    engine("SQLite", "CSQLite", module: "CSQLite"),
    .systemLibrary(name: "CSQLite", path: "Plugins/SQLite/CSQLite", providers: [.apt(["libsqlite3-dev"])]),
    engine("LMDB", "CLMDB", "CCrashNotice", module: "CLMDB"),
    .systemLibrary(name: "CLMDB", path: "Plugins/LMDB/CLMDB", providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
    // hiredis and OpenSSL are loaded when the first connection is opened.
    engine("Redis", "CRedis", module: "CRedis"),
    .target(name: "CRedis", path: "Plugins/Redis/CRedis"),

    // The cache, as a library.
    layer("Caching", "FetchVocabulary", []),
    // Messages of HTTP, and the rules of RFC 9111, as values and pure functions. libidn2 is loaded when the first name of a
    // server is not ASCII.
    layer("Caching", "HTTPCaching", ["FetchVocabulary"]),
    // The cache: one fetch over these rules, and entries in a store of any engine.
    .target(name: "CChecksum", path: "Sources/Caching/CChecksum"),
    layer("Caching", "CacheCore", ["EngineAPI", "FetchVocabulary", "HTTPCaching", "CChecksum"]),
    // Requests by libcurl, which is loaded when the first is made, and compression.
    .target(name: "CCurl", path: "Sources/Caching/CCurl"),
    .systemLibrary(name: "CZlib", path: "Sources/Caching/CZlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CZstd", path: "Sources/Caching/CZstd", providers: [.apt(["libzstd-dev"]), .brew(["zstd"])]),
    layer("Caching", "CurlTransport", caching + ["CCurl", "CZlib", "CZstd"]),
    // Whatever other transforms there are come from outside, in the same way. libsodium is loaded when the first payload is
    // sealed.
    layer("Caching", "PayloadTransforms", caching + ["CZstd"]),
    // The configuration of a program: its keys, and the files, variables and arguments that set them.
    layer("Caching", "CacheConfiguration", caching),
    // The front door: what a program imports.
    layer("Caching", "ResponseCache", caching),
    // The front door by configuration.
    layer("Caching", "ResponseCacheConfiguration", caching + ["ResponseCache", "CacheConfiguration"]),
    layer("Caching", "ResponseCacheTesting", caching + ["ResponseCache", "EngineConformance", "MemoryStorage"]),
    // The only target that imports Foundation; the tool does not link it.
    layer("Caching", "ResponseCacheURLSession", caching + ["ResponseCache"]),

    // The articles' app on the cache.
    layer("Features", "CacheDomain", ["FetchVocabulary"]),
    layer("Features", "CacheData", caching + ["CacheDomain"]),
    layer("Features", "CachePresentation", ["FetchVocabulary", "HTTPCaching", "CacheDomain"]),
    .target(
      name: "CSampleData", dependencies: ["CZlib"], path: "Sources/Features/CSampleData",
      exclude: ["README.md", "Data"]),
    layer("Features", "SampleOrigin", caching + ["CacheDomain", "CacheData", "CSampleData", "CZlib"]),

    // The program.
    layer("Tool", "CommandLineKit", []),
    // Everything together, from the configuration: stores, origins and the features' use cases, and the commands and their
    // views. A library, so that a program can add its own.
    layer(
      "Tool", "CachectlTool",
      caching + app + localEngines + [
        "RedisStorage", "LibraryStorage", "CCrashNotice", "CommandLineKit", "EngineConformance", "EngineBenchmark",
        "CacheConfiguration", "CurlTransport", "PayloadTransforms",
      ]),
    .executableTarget(
      name: "cachectl", dependencies: ["CachectlTool"], path: "Sources/Tool/cachectl", swiftSettings: settings),

    // Starts programs and waits for their end.
    testSupport("ChildProcesses", []),
    // An origin that misbehaves on demand.
    .target(name: "CTestOrigin", path: "Tests/CTestOrigin"),
    testSupport("TestOrigin", ["ChildProcesses", "CTestOrigin", "CZlib"]),
    // Numbers for tests whose histories repeat themselves for a seed.
    testSupport("SeededNumbers", []),
    // A store in memory, and a layer that fails, waits and lies.
    testSupport("TestStorage", ["EngineAPI"]),
    exerciser("StoreExerciser", ["PlistStorage", "SQLiteStorage", "LMDBStorage"]),
    exerciser("RedisExerciser", ["RedisStorage"]),

    tests("CacheBaseTests", []),
    tests("EngineAPITests", ["EngineAPI", "CCrashNotice"]),
    tests("EngineConformanceTests", localEngines + ["EngineAPI", "TestStorage", "EngineConformance"]),
    tests("EngineBenchmarkTests", ["EngineAPI", "TestStorage", "EngineBenchmark", "MemoryStorage"]),
    tests("EngineExportTests", ["EngineAPI", "TestStorage", "CCachectlPlugin", "EngineExport"]),
    tests("PlistStorageTests", ["EngineAPI", "ChildProcesses", "PlistStorage"], data: ["Fixtures"]),
    tests("SQLiteStorageTests", ["EngineAPI", "ChildProcesses", "SQLiteStorage", "CSQLite"]),
    tests("LMDBStorageTests", ["EngineAPI", "ChildProcesses", "LMDBStorage", "CLMDB"]),
    tests(
      "LibraryStorageTests",
      ["EngineAPI", "ChildProcesses", "EngineConformance", "CCachectlPlugin", "LibraryStorage", "PlistStorage"],
      data: ["Libraries"]),
    tests(
      "RedisStorageTests",
      caching + localEngines + [
        "ChildProcesses", "EngineConformance", "RedisStorage", "CRedis", "RedisExerciser", "TestOrigin", "cachectl",
      ]),
    tests("HTTPCachingTests", ["FetchVocabulary", "HTTPCaching"]),
    tests(
      "CacheCoreTests",
      caching + localEngines + [
        "CurlTransport", "TestStorage", "EngineConformance", "CacheDomain", "CacheData", "TestOrigin",
      ]),
    tests("CurlTransportTests", caching + ["CurlTransport", "TestOrigin"]),
    tests(
      "PayloadTransformsTests",
      caching + localEngines + ["TestStorage", "EngineConformance", "PayloadTransforms"]),
    tests("ResponseCacheTests", caching + localEngines + ["ResponseCache", "ResponseCacheTesting"]),
    tests(
      "ResponseCacheConfigurationTests",
      caching + localEngines + [
        "ResponseCache", "CacheConfiguration", "ResponseCacheConfiguration", "ResponseCacheTesting",
      ]),
    tests(
      "ResponseCacheURLSessionTests",
      caching + [
        "CurlTransport", "EngineConformance", "MemoryStorage", "ResponseCache", "ResponseCacheURLSession", "TestOrigin",
      ]),
    tests("CacheDomainTests", ["FetchVocabulary", "CacheDomain"]),
    tests("CacheDataTests", caching + ["TestStorage", "EngineConformance", "CacheDomain", "CacheData"]),
    tests("CachePresentationTests", ["FetchVocabulary", "HTTPCaching", "CacheDomain", "CachePresentation"]),
    tests(
      "SampleOriginTests", caching + ["CacheDomain", "CacheData", "CSampleData", "CZlib", "SampleOrigin"],
      data: ["Data"]),
    tests("CommandLineKitTests", ["ChildProcesses", "CommandLineKit"], data: ["Golden"]),
    tests(
      "CachectlToolTests",
      caching + app + [
        "TestStorage", "EngineConformance", "EngineBenchmark", "CacheConfiguration", "ResponseCache", "CommandLineKit",
        "CachectlTool",
      ]),
    // The program, driven from outside.
    tests(
      "CommandLineTests",
      ["FetchVocabulary", "CachePresentation", "CommandLineKit", "ChildProcesses", "TestOrigin", "cachectl"],
      data: ["Libraries"]),
    tests("DurabilityTests", ["ChildProcesses", "StoreExerciser", "TestOrigin", "cachectl"]),
    // An engine in C that the tests build, and load as a user would.
    tests("ExamplesTests", ["EngineAPI", "ChildProcesses", "EngineConformance", "LibraryStorage"]),
    tests("TestOriginTests", ["TestOrigin"]),
  ]
)

#if !os(Linux)
  // These tests drive programs and servers of Linux: see docs/platforms.md.
  let onLinux: Set = ["ChildProcesses", "CTestOrigin", "TestOrigin", "StoreExerciser"]
  package.targets.removeAll { target in
    onLinux.contains(target.name)
      || target.dependencies.contains {
        if case .byNameItem(let name, _) = $0 { onLinux.contains(name) } else { false }
      }
  }
#endif

// A build for a sanitizer takes long: .ci/run names those test targets that it needs then.
if let wanted = Context.environment["CACHECTL_TEST_TARGETS"]?.split(separator: " ").map(String.init) {
  package.targets.removeAll { $0.type == .test && !wanted.contains($0.name) }
}
