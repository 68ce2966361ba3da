// swift-tools-version: 6.2
import PackageDescription

/// The upcoming language features, in one place for all targets.
let features = [
  "ExistentialAny", "ImmutableWeakCaptures", "InferIsolatedConformances", "InternalImportsByDefault",
  "MemberImportVisibility", "NonisolatedNonsendingByDefault",
]
let settings: [SwiftSetting] = features.map { .enableUpcomingFeature($0) }

/// One target of a storey. What it may import is what is listed here: the build rejects anything else with
/// `--explicit-target-dependency-import-check error`. A target also lists what it sees only because another one exports it
/// again: without that SwiftPM may not rebuild it after a change.
func layer(_ storey: String, _ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .target(name: name, dependencies: dependencies, path: "Sources/\(storey)/\(name)", swiftSettings: settings)
}

/// What fetches through the cache. `CacheCore` exports the rules, and these the vocabulary.
let caching: [Target.Dependency] = ["Base", "FetchVocabulary", "HTTPCaching", "StorageSPI", "CacheCore"]

/// A storage engine. SwiftPM means something else by "plugins": hence the explicit path.
func engine(_ folder: String, _ libraries: Target.Dependency..., module: String? = nil) -> Target {
  .target(
    name: "\(folder)Storage", dependencies: ["Platform", "Base", "StorageSPI", "EngineSupport"] + libraries,
    path: "Plugins/\(folder)",
    exclude: ["README.md"] + (module.map { [$0] } ?? []), swiftSettings: settings)
}

/// The tests of one target, which read the files in the folders `data` in place.
func tests(_ name: String, _ dependencies: Target.Dependency..., data: [String] = []) -> Target {
  .testTarget(name: name, dependencies: dependencies, exclude: data, swiftSettings: settings)
}

let package = Package(
  name: "cachectl",
  platforms: [.macOS(.v26)],
  products: [
    .executable(name: "cachectl", targets: ["cachectl"]),
    .library(name: "Platform", targets: ["Platform"]),
    .library(name: "StorageSPI", targets: ["Base", "StorageSPI"]),
    .library(name: "EngineSupport", targets: ["EngineSupport"]),
    .library(name: "StorageConformance", targets: ["StorageConformance"]),
    .library(name: "StorageBenchmark", targets: ["StorageBenchmark"]),
    .library(name: "StoragePluginExport", targets: ["StoragePluginExport", "StorageSPI"]),
    .library(name: "LibraryStorage", targets: ["LibraryStorage"]),
    // The cache: values, resources and HTTP over any engine. No feature, no network, no engine.
    .library(
      name: "ResponseCache",
      targets: [
        "Base", "FetchVocabulary", "HTTPCaching", "CacheCore", "StorageSPI", "ResponseCache",
      ]),
    // The cache, opened as the users of the program have configured it.
    .library(name: "ResponseCacheConfiguration", targets: ["ResponseCacheConfiguration"]),
    // For tests of programs with such a cache.
    .library(name: "ResponseCacheTesting", targets: ["ResponseCacheTesting"]),
    // Requests to servers, the cache's and others.
    .library(name: "CurlTransport", targets: ["HTTPCaching", "CurlTransport"]),
    // What is built on the cache: cities, movies, posters and URLs, with the sample.
    .library(name: "CacheFeatures", targets: ["CacheDomain", "CacheData", "SampleOrigin"]),
    // All of this, put together as a configuration says.
    .library(name: "CacheComposition", targets: ["ProgramConfiguration", "CacheComposition"]),
    // The program, for one with more resources, engines or commands.
    .library(
      name: "CachectlTool",
      targets: [
        "CachectlArguments", "Base", "FetchVocabulary", "HTTPCaching", "CacheCore", "StorageSPI",
        "ProgramConfiguration",
        "CacheDomain", "CacheData", "CachePresentation", "CacheComposition", "CachectlTool",
      ]),
    // Payload transforms: compression, encryption.
    .library(name: "PayloadTransforms", targets: ["PayloadTransforms"]),
    // The cache under a URLSession.
    .library(name: "ResponseCacheURLSession", targets: ["ResponseCacheURLSession"]),
    // One engine, or all that are built in.
    .library(name: "MemoryStorage", targets: ["MemoryStorage"]),
    .library(name: "PlistStorage", targets: ["PlistStorage"]),
    .library(name: "SQLiteStorage", targets: ["SQLiteStorage"]),
    .library(name: "LMDBStorage", targets: ["LMDBStorage"]),
    .library(name: "RedisStorage", targets: ["RedisStorage"]),
    .library(
      name: "BuiltInEngines",
      targets: ["MemoryStorage", "PlistStorage", "SQLiteStorage", "LMDBStorage", "RedisStorage"]),
  ],
  targets: [
    // The platform's C library, which nothing else imports, and what the platforms call or do differently.
    layer("Storage", "Platform", []),
    // What an engine is.
    // What every target may use: the error, JSON, URLs, digits, dates, encodings, digests, random numbers, and removing
    // folders.
    layer("Storage", "Base", ["Platform"]),
    // What was meant by a misspelled name.
    layer("Storage", "Spelling", []),
    // The contract of an engine, and nothing else.
    layer("Storage", "StorageSPI", ["Platform", "Base"]),
    // What a process says that a damaged file ends.
    .target(name: "CCrashNotice", path: "Sources/Storage/CCrashNotice"),
    // What helps an engine's author to keep it: threads, pools, tables.
    layer("Storage", "EngineSupport", ["Platform", "Base", "StorageSPI"]),
    // The interface of engines that are shared libraries: a header, and a check of its layout.
    .target(name: "CCachectlPlugin", path: "Sources/Storage/CCachectlPlugin"),
    // Its values in Swift, for both sides: the host and the libraries.
    layer("Storage", "PluginInterface", ["Platform", "Base", "StorageSPI", "CCachectlPlugin"]),
    layer("Storage", "StoragePluginExport", ["Platform", "Base", "StorageSPI", "CCachectlPlugin", "PluginInterface"]),
    layer("Storage", "StorageConformance", ["Base", "StorageSPI", "EngineSupport"]),
    // The workloads that are built in, and what Swift cannot reach of the C library.
    .target(name: "CStorageBenchmark", path: "Sources/Storage/CStorageBenchmark"),
    layer(
      "Storage", "StorageBenchmark",
      ["Platform", "Spelling", "Base", "StorageSPI", "EngineSupport", "CStorageBenchmark"]),

    // The cache, as a library.
    layer("Caching", "FetchVocabulary", ["Base"]),
    // Messages of HTTP, and the rules of RFC 9111, as values and pure functions. libidn2 is loaded when the first name of a
    // server is not ASCII.
    layer("Caching", "HTTPCaching", ["Platform", "Base", "FetchVocabulary"]),
    // The cache: one fetch over these rules, and entries in a store of any engine.
    .target(name: "CChecksum", path: "Sources/Caching/CChecksum"),
    layer(
      "Caching", "CacheCore",
      ["Platform", "Base", "FetchVocabulary", "HTTPCaching", "StorageSPI", "EngineSupport", "CChecksum"]),
    // Payload transforms. Whatever else there is comes from outside, in the same way. libsodium is loaded when the first
    // payload is sealed.
    layer(
      "Caching", "PayloadTransforms",
      ["Platform", "Base", "FetchVocabulary", "StorageSPI", "EngineSupport", "CacheCore", "CZstd"]),
    // The front door: what a program imports.
    layer("Caching", "ResponseCache", caching),
    // The configuration of a program: its keys, and the files, variables and arguments that set them.
    layer("Caching", "ProgramConfiguration", caching + ["Platform", "Spelling"]),
    // The front door by configuration.
    layer("Caching", "ResponseCacheConfiguration", caching + ["ResponseCache", "ProgramConfiguration"]),
    layer("Caching", "ResponseCacheTesting", caching + ["ResponseCache", "StorageConformance", "MemoryStorage"]),
    // Requests by libcurl, which is loaded when the first is made, and compression.
    .target(name: "CCurl", path: "Sources/Caching/CCurl"),
    .systemLibrary(name: "CZlib", path: "Sources/Caching/CZlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CZstd", path: "Sources/Caching/CZstd", providers: [.apt(["libzstd-dev"]), .brew(["zstd"])]),
    layer("Caching", "CurlTransport", caching + ["Platform", "CCurl", "CZlib", "CZstd"]),
    // The only target that imports Foundation; the tool does not link it.
    layer("Caching", "ResponseCacheURLSession", caching + ["ResponseCache"]),

    // The engines.
    engine("Memory"),
    // Engines of others, as shared libraries.
    engine("Library", "CCachectlPlugin", "PluginInterface", "CLibraryCall", module: "CLibraryCall"),
    .target(name: "CLibraryCall", path: "Plugins/Library/CLibraryCall"),
    engine("Plist"),
    engine("SQLite", "CSQLite", module: "CSQLite"),
    .systemLibrary(name: "CSQLite", path: "Plugins/SQLite/CSQLite", providers: [.apt(["libsqlite3-dev"])]),
    engine("LMDB", "CLMDB", "CCrashNotice", module: "CLMDB"),
    .systemLibrary(name: "CLMDB", path: "Plugins/LMDB/CLMDB", providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
    // On Redis. hiredis and OpenSSL are loaded when the first connection is opened.
    engine("Redis", "CRedis", module: "CRedis"),
    .target(name: "CRedis", path: "Plugins/Redis/CRedis"),

    // The articles' app on the cache.
    layer("Features", "CacheDomain", ["Base", "FetchVocabulary", "HTTPCaching"]),
    layer("Features", "CacheData", caching + ["CacheDomain"]),
    layer("Features", "CachePresentation", ["Base", "FetchVocabulary", "HTTPCaching", "CacheDomain"]),
    .target(
      name: "CSampleData", dependencies: ["CZlib"], path: "Sources/Features/CSampleData",
      exclude: ["README.md", "Data"]),
    layer("Features", "SampleOrigin", caching + ["CacheDomain", "CacheData", "CSampleData", "CZlib"]),

    // The program.
    layer("Tool", "CachectlArguments", ["Spelling"]),
    // Everything together, from the configuration: stores, origins, and the features' use cases.
    layer(
      "Tool", "CacheComposition",
      caching + [
        "Platform", "Spelling", "EngineSupport", "ProgramConfiguration", "CurlTransport",
        "CacheDomain", "CacheData", "CachePresentation", "SampleOrigin", "MemoryStorage",
        "PlistStorage",
        "SQLiteStorage", "LMDBStorage", "RedisStorage",
        "LibraryStorage", "PayloadTransforms",
      ]),
    // The commands and their views, as a library: a program adds its own.
    layer(
      "Tool", "CachectlTool",
      caching + [
        "Platform", "CCrashNotice", "CachectlArguments", "Spelling", "StorageConformance",
        "StorageBenchmark",
        "ProgramConfiguration",
        "CurlTransport", "CacheDomain", "CacheData", "CachePresentation", "SampleOrigin",
        "CacheComposition",
      ]),
    .executableTarget(
      name: "cachectl", dependencies: ["CachectlTool"], path: "Sources/Tool/cachectl", swiftSettings: settings),

    // Starts programs and waits for their end: for tests only, and in no product.
    .target(name: "ChildProcesses", dependencies: ["Platform"], path: "Tests/ChildProcesses", swiftSettings: settings),
    // An origin that misbehaves on demand: for tests only, and in no product.
    .target(name: "CTestOrigin", path: "Tests/CTestOrigin"),
    .target(
      name: "TestOrigin", dependencies: ["Platform", "ChildProcesses", "CTestOrigin", "CZlib"],
      path: "Tests/TestOrigin",
      swiftSettings: settings),
    // Numbers for tests whose histories repeat themselves for a seed.
    .target(name: "SeededNumbers", dependencies: ["Base"], path: "Tests/SeededNumbers", swiftSettings: settings),
    // A store in memory, and a layer that fails, waits and lies: for tests only, and in no product.
    .target(
      name: "TestStorage", dependencies: ["Base", "StorageSPI", "EngineSupport"], path: "Tests/TestStorage",
      swiftSettings: settings),
    // A program that tests kill, starve and run many times at once: for tests only, and in no product.
    .executableTarget(
      name: "StoreExerciser",
      dependencies: [
        "Platform", "Base", "StorageSPI", "CacheCore", "SeededNumbers", "SQLiteStorage", "LMDBStorage",
        "PlistStorage",
      ],
      path: "Tests/StoreExerciser", swiftSettings: settings),
    // An engine in C that the tests build, and load as a user would.
    tests("ExamplesTests", "ChildProcesses", "Base", "StorageSPI", "StorageConformance", "LibraryStorage"),
    tests(
      "DurabilityTests", "Platform", "Base", "ChildProcesses", "StoreExerciser", "cachectl", "TestOrigin",
      "SeededNumbers"),
    tests("TestOriginTests", "Platform", "ChildProcesses", "TestOrigin", "CZlib"),
    tests("BaseTests", "Base", "SeededNumbers"),
    tests("StorageSPITests", "Base", "StorageSPI", "SeededNumbers"),
    tests("EngineSupportTests", "Platform", "CCrashNotice", "Base", "StorageSPI", "EngineSupport", "SeededNumbers"),
    tests("CacheDomainTests", "Base", "FetchVocabulary", "HTTPCaching", "CacheDomain", "SeededNumbers"),
    tests(
      "HTTPCachingTests", "Base", "FetchVocabulary", "HTTPCaching", "SeededNumbers"),
    tests("TransportTests", "Platform", "Base", "HTTPCaching", "CurlTransport", "TestOrigin", "SeededNumbers"),
    tests(
      "CacheDataTests", "Base", "FetchVocabulary", "HTTPCaching", "CacheCore", "StorageSPI", "EngineSupport",
      "CacheDomain", "CacheData", "SeededNumbers"),
    tests(
      "ResponseStorageTests", "FetchVocabulary", "HTTPCaching", "CacheCore", "CacheDomain", "CacheData",
      "Base", "StorageSPI", "TestStorage", "EngineSupport", "StorageConformance", "MemoryStorage", "SeededNumbers"),
    tests(
      "SampleOriginTests", "FetchVocabulary", "HTTPCaching", "CacheCore", "StorageSPI", "Base",
      "CacheDomain", "CacheData", "CSampleData", "CZlib", "SampleOrigin",
      data: ["Data"]),
    tests(
      "HTTPTransferTests", "Base", "FetchVocabulary", "HTTPCaching", "CacheCore", "CurlTransport",
      "TestOrigin"),
    tests(
      "ResponseCacheURLSessionTests", "FetchVocabulary", "HTTPCaching", "CurlTransport", "Base", "StorageSPI",
      "StorageConformance", "MemoryStorage", "ResponseCache", "ResponseCacheURLSession", "TestOrigin"),
    tests(
      "ResponseCacheTests", "Platform", "Base", "FetchVocabulary", "HTTPCaching", "CacheCore",
      "StorageSPI",
      "ResponseCache", "ResponseCacheTesting", "MemoryStorage", "PlistStorage", "SQLiteStorage",
      "LMDBStorage"),
    tests(
      "ResponseCacheConfigurationTests", "Base", "FetchVocabulary", "HTTPCaching", "CacheCore",
      "StorageSPI", "ResponseCache", "ProgramConfiguration", "ResponseCacheConfiguration",
      "ResponseCacheTesting", "MemoryStorage", "PlistStorage", "SQLiteStorage"),
    tests(
      "TransformTests", "Base", "FetchVocabulary", "HTTPCaching", "CacheCore", "StorageSPI",
      "StorageConformance", "PayloadTransforms", "SeededNumbers", "MemoryStorage",
      "PlistStorage", "SQLiteStorage", "LMDBStorage"),
    tests("SpellingTests", "Spelling"),
    tests("CachectlArgumentsTests", "Base", "ChildProcesses", "CachectlArguments", "SeededNumbers", data: ["Golden"]),
    tests(
      "CachePresentationTests", "Base", "FetchVocabulary", "HTTPCaching", "CacheDomain", "CachePresentation",
      "SeededNumbers"),
    tests(
      "ToolTests", "CachectlArguments", "Base", "FetchVocabulary", "HTTPCaching", "CacheCore", "CacheDomain",
      "CacheData", "CachePresentation", "StorageSPI", "TestStorage", "EngineSupport", "StorageConformance",
      "StorageBenchmark", "ProgramConfiguration", "CacheComposition", "CachectlTool"),
    tests(
      "PlistStorageTests", "ChildProcesses", "Base", "StorageSPI", "EngineSupport", "PlistStorage", "SeededNumbers",
      data: ["Fixtures"]),
    tests(
      "SQLiteStorageTests", "Platform", "ChildProcesses", "Base", "StorageSPI", "EngineSupport", "SQLiteStorage",
      "CSQLite", "SeededNumbers"),
    tests(
      "LMDBStorageTests", "Platform", "ChildProcesses", "Base", "StorageSPI", "EngineSupport", "LMDBStorage", "CLMDB",
      "SeededNumbers"),
    // A program that tests run several times at once: for tests only, and in no product.
    .executableTarget(
      name: "RedisExerciser", dependencies: ["Platform", "Base", "StorageSPI", "CacheCore", "RedisStorage"],
      path: "Tests/RedisExerciser", swiftSettings: settings),
    tests(
      "RedisStorageTests", "Platform", "Base", "ChildProcesses", "StorageSPI", "EngineSupport", "StorageConformance",
      "CacheCore", "RedisStorage", "CRedis", "RedisExerciser", "SQLiteStorage", "LMDBStorage", "MemoryStorage",
      "TestOrigin", "cachectl"),
    tests(
      "ConformanceTests", "Base", "StorageSPI", "TestStorage", "EngineSupport", "StorageConformance",
      "CacheCore", "MemoryStorage", "PlistStorage", "SQLiteStorage", "LMDBStorage"),
    tests(
      "StorageBenchmarkTests", "Base", "StorageSPI", "TestStorage", "EngineSupport", "StorageBenchmark",
      "MemoryStorage",
      "SeededNumbers"),
    tests(
      "BoundsTests", "FetchVocabulary", "HTTPCaching", "CacheCore", "Base", "StorageSPI",
      "EngineSupport", "TestStorage",
      "StorageConformance", "MemoryStorage",
      "PlistStorage", "SQLiteStorage", "LMDBStorage"),
    tests(
      "HTTPCacheTests", "FetchVocabulary", "HTTPCaching", "CacheCore", "CurlTransport", "Base", "StorageSPI",
      "StorageConformance", "MemoryStorage", "TestOrigin"),
    tests(
      "LibraryStorageTests", "Platform", "ChildProcesses", "Base", "StorageSPI", "StorageConformance",
      "CCachectlPlugin",
      "LibraryStorage", "PlistStorage", data: ["Libraries"]),
    tests(
      "StoragePluginExportTests", "Base", "StorageSPI", "TestStorage", "EngineSupport", "CCachectlPlugin",
      "StoragePluginExport"),
    tests(
      "CommandLineTests", "Platform", "Base", "ChildProcesses", "CachectlArguments", "FetchVocabulary",
      "CachePresentation", "SeededNumbers", "cachectl", "TestOrigin",
      data: ["Libraries"]),
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
