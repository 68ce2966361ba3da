// swift-tools-version: 6.2
import PackageDescription

/// The upcoming language features, in one place for all targets.
let features = [
  "ExistentialAny", "ImmutableWeakCaptures", "InferIsolatedConformances", "InternalImportsByDefault",
  "MemberImportVisibility", "NonisolatedNonsendingByDefault",
]
let settings: [SwiftSetting] = features.map { .enableUpcomingFeature($0) }

/// One layer of the architecture. What it may import is what is listed here: the build rejects anything else with
/// `--explicit-target-dependency-import-check error`. A target also lists what it sees only because another one exports it
/// again: without that SwiftPM may not rebuild it after a change.
func layer(_ name: String, _ dependencies: Target.Dependency...) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

/// A storage engine. SwiftPM means something else by "plugins": hence the explicit path.
func engine(_ folder: String, _ libraries: Target.Dependency..., module: String? = nil) -> Target {
  .target(
    name: "\(folder)Storage", dependencies: ["Base", "StorageSPI"] + libraries, path: "Plugins/\(folder)",
    exclude: ["README.md"] + (module.map { [$0] } ?? []), swiftSettings: settings)
}

/// An engine as a shared library: the same sources and one exported function. The library brings the Swift runtime
/// along, and keeps all names but that one to itself, so that it and its host cannot disturb each other.
func library(_ folder: String) -> Target {
  let exports = "--version-script=\(Context.packageDirectory)/Plugins/Libraries/exports.map"
  return .target(
    name: "\(folder)Library", dependencies: ["StoragePluginExport", .byName(name: "\(folder)Storage")],
    path: "Plugins/Libraries/\(folder)", swiftSettings: settings,
    linkerSettings: [
      .unsafeFlags(["-static-stdlib", "-Xlinker", exports])
    ])
}

/// The tests of one target, which read the files in the folders `data` in place.
func tests(_ name: String, _ dependencies: Target.Dependency..., data: [String] = []) -> Target {
  .testTarget(name: name, dependencies: dependencies, exclude: data, swiftSettings: settings)
}

let package = Package(
  name: "cachectl",
  products: [
    .executable(name: "cachectl", targets: ["cachectl"]),
    .library(name: "StorageSPI", targets: ["Base", "StorageSPI"]),
    .library(name: "StorageConformance", targets: ["StorageConformance"]),
    .library(name: "StorageBenchmark", targets: ["StorageBenchmark"]),
    .library(name: "StoragePluginExport", targets: ["StoragePluginExport", "StorageSPI"]),
    .library(name: "LibraryStorage", targets: ["LibraryStorage"]),
    // What answers a typed hit, without the composition root and the network.
    .library(
      name: "ResponseStorage", targets: ["CacheDomain", "CacheData", "StorageSPI", "ResponseStorage", "SampleOrigin"]),
    .library(
      name: "ResponseCache",
      targets: ["CacheDomain", "CacheData", "StorageSPI", "ResponseStorage", "SampleOrigin", "CacheComposition"]),
    // Requests over HTTP, without a cache.
    .library(name: "Transport", targets: ["HTTPMessages", "Transport"]),
    // The cache under a URLSession.
    .library(name: "ResponseCacheURLSession", targets: ["ResponseCacheURLSession"]),
    .library(name: "BuiltInEngines", targets: ["MemoryStorage", "PlistStorage", "SQLiteStorage", "LMDBStorage"]),
    // The same engines as shared libraries: libcachectl-memory.so and so on.
    .library(name: "cachectl-memory", type: .dynamic, targets: ["MemoryLibrary"]),
    .library(name: "cachectl-plist", type: .dynamic, targets: ["PlistLibrary"]),
    .library(name: "cachectl-sqlite", type: .dynamic, targets: ["SQLiteLibrary"]),
    .library(name: "cachectl-lmdb", type: .dynamic, targets: ["LMDBLibrary"]),
  ],
  targets: [
    // What every target may use: JSON, URLs, digits, dates, encodings, random numbers, the removal of folders.
    layer("Base"),
    // What was meant by a misspelled name.
    layer("Spelling"),
    layer("CacheDomain"),
    // Requests and responses as values.
    layer("HTTPMessages", "Base"),
    // libcurl, loaded when the first request is made.
    .target(name: "CCurl"),
    layer("Transport", "Base", "HTTPMessages", "CCurl"),
    layer("CacheData", "Base", "CacheDomain", "HTTPMessages"),
    layer("StorageSPI", "Base"),
    .target(name: "CChecksum"),
    // The interface of engines that are shared libraries: a header, and a check of its layout.
    .target(name: "CCachectlPlugin"),
    layer("StoragePluginExport", "Base", "StorageSPI", "CCachectlPlugin"),
    layer("ResponseStorage", "CacheDomain", "CacheData", "HTTPMessages", "Base", "StorageSPI", "CChecksum"),
    layer("StorageConformance", "Base", "StorageSPI"),
    // The workloads that are built in, and what Swift cannot reach of the C library.
    .target(name: "CStorageBenchmark", exclude: ["README.md", "Data"]),
    layer("StorageBenchmark", "Spelling", "Base", "StorageSPI", "CStorageBenchmark"),
    .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),
    .target(name: "CSampleData", dependencies: ["CZlib"], exclude: ["README.md", "Data"]),
    layer("SampleOrigin", "Base", "CacheDomain", "CacheData", "HTTPMessages", "CSampleData", "CZlib"),
    .systemLibrary(name: "CZstd", providers: [.apt(["libzstd-dev"])]),
    layer("CacheNetwork", "CacheDomain", "CacheData", "HTTPMessages", "Transport", "CZlib", "CZstd"),
    // The only target that imports Foundation; the tool does not link it.
    layer(
      "ResponseCacheURLSession", "CacheDomain", "CacheData", "HTTPMessages", "Base", "StorageSPI", "ResponseStorage"),
    layer("CachePresentation", "Base", "CacheDomain"),
    layer("ArgumentParser", "Spelling"),

    engine("Memory"),
    // Engines of others, as shared libraries.
    engine("Library", "CCachectlPlugin"),
    engine("Plist"),
    engine("SQLite", "CSQLite", module: "CSQLite"),
    .systemLibrary(name: "CSQLite", path: "Plugins/SQLite/CSQLite", providers: [.apt(["libsqlite3-dev"])]),
    engine("LMDB", "CLMDB", module: "CLMDB"),
    .systemLibrary(name: "CLMDB", path: "Plugins/LMDB/CLMDB", providers: [.apt(["liblmdb-dev"])]),
    library("Memory"),
    library("Plist"),
    library("SQLite"),
    library("LMDB"),

    layer(
      "CacheComposition", "Base", "CacheDomain", "CacheData", "HTTPMessages", "Spelling", "StorageSPI",
      "ResponseStorage",
      "StorageConformance", "StorageBenchmark", "SampleOrigin", "Transport", "CacheNetwork", "CachePresentation",
      "MemoryStorage", "PlistStorage", "SQLiteStorage", "LMDBStorage", "LibraryStorage"),
    .executableTarget(
      name: "cachectl",
      dependencies: ["ArgumentParser", "Base", "CacheComposition", "CacheDomain", "CachePresentation", "HTTPMessages"],
      swiftSettings: settings),

    // Starts programs and waits for their end: for tests only, and in no product.
    .target(name: "ChildProcesses", path: "Tests/ChildProcesses", swiftSettings: settings),
    // An origin that misbehaves as it is told: for tests only, and in no product.
    .target(name: "CTestOrigin", path: "Tests/CTestOrigin"),
    .target(
      name: "TestOrigin", dependencies: ["ChildProcesses", "CTestOrigin", "CZlib"], path: "Tests/TestOrigin",
      swiftSettings: settings),
    // Numbers for tests whose histories repeat themselves for a seed.
    .target(name: "SeededNumbers", dependencies: ["Base"], path: "Tests/SeededNumbers", swiftSettings: settings),
    // A program that tests kill, starve and run many times at once: for tests only, and in no product.
    .executableTarget(
      name: "StoreExerciser",
      dependencies: [
        "Base", "StorageSPI", "ResponseStorage", "SeededNumbers", "SQLiteStorage", "LMDBStorage", "PlistStorage",
      ],
      path: "Tests/StoreExerciser", swiftSettings: settings),
    // An engine in C that the tests build, and load as a user would.
    tests("ExamplesTests", "ChildProcesses", "Base", "StorageSPI", "StorageConformance", "LibraryStorage"),
    tests("RepairTests", "Base", "StorageSPI", "PlistStorage", "SQLiteStorage", "LMDBStorage", "SeededNumbers"),
    tests("DurabilityTests", "Base", "ChildProcesses", "StoreExerciser", "cachectl", "TestOrigin", "SeededNumbers"),
    tests("TestOriginTests", "ChildProcesses", "TestOrigin", "CZlib"),
    tests("BaseTests", "Base", "SeededNumbers"),
    tests("StorageSPITests", "Base", "StorageSPI", "SeededNumbers"),
    tests("CacheDomainTests", "Base", "CacheDomain", "SeededNumbers"),
    tests("HTTPMessagesTests", "HTTPMessages"),
    tests("TransportTests", "Base", "HTTPMessages", "Transport", "TestOrigin", "SeededNumbers"),
    tests("CacheDataTests", "Base", "CacheDomain", "CacheData", "HTTPMessages", "SeededNumbers"),
    tests(
      "ResponseStorageTests", "CacheDomain", "CacheData", "HTTPMessages", "Base", "StorageSPI", "ResponseStorage",
      "StorageConformance",
      "MemoryStorage"),
    tests(
      "SampleOriginTests", "CacheDomain", "CacheData", "HTTPMessages", "CSampleData", "CZlib", "SampleOrigin",
      data: ["Data"]),
    tests("CacheNetworkTests", "CacheDomain", "CacheData", "HTTPMessages", "CacheNetwork", "TestOrigin"),
    tests(
      "ResponseCacheURLSessionTests", "CacheDomain", "Base", "StorageSPI", "StorageConformance", "MemoryStorage",
      "ResponseCacheURLSession",
      "TestOrigin"),
    tests("SpellingTests", "Spelling"),
    tests("ArgumentParserTests", "Base", "ChildProcesses", "ArgumentParser", "SeededNumbers", data: ["Golden"]),
    tests("CachePresentationTests", "Base", "CacheDomain", "CachePresentation", "SeededNumbers"),
    tests(
      "CacheCompositionTests", "Base", "CacheDomain", "CacheData", "HTTPMessages", "CachePresentation", "StorageSPI",
      "ResponseStorage",
      "StorageConformance", "StorageBenchmark", "CacheComposition"),
    tests(
      "PlistStorageTests", "ChildProcesses", "Base", "StorageSPI", "PlistStorage", "SeededNumbers", data: ["Fixtures"]),
    tests(
      "SQLiteStorageTests", "ChildProcesses", "Base", "StorageSPI", "SQLiteStorage", "CSQLite", "SeededNumbers",
      data: ["Fixtures"]),
    tests(
      "LMDBStorageTests", "ChildProcesses", "Base", "StorageSPI", "LMDBStorage", "CLMDB", "SeededNumbers",
      data: ["Fixtures"]),
    tests(
      "ConformanceTests", "ChildProcesses", "Base", "StorageSPI", "StorageConformance", "MemoryStorage", "PlistStorage",
      "SQLiteStorage", "LMDBStorage", "LibraryStorage"),
    tests("StorageBenchmarkTests", "Base", "StorageSPI", "StorageBenchmark", "MemoryStorage", "SeededNumbers"),
    tests(
      "BoundsTests", "CacheDomain", "Base", "StorageSPI", "StorageConformance", "ResponseStorage", "MemoryStorage",
      "PlistStorage", "SQLiteStorage", "LMDBStorage"),
    tests(
      "HTTPCacheTests", "CacheDomain", "CacheData", "HTTPMessages", "CacheNetwork", "Base", "StorageSPI",
      "ResponseStorage",
      "StorageConformance", "MemoryStorage", "TestOrigin"),
    tests(
      "LibraryStorageTests", "ChildProcesses", "Base", "StorageSPI", "StorageConformance", "CCachectlPlugin",
      "LibraryStorage",
      "SQLiteStorage", data: ["Libraries"]),
    tests("StoragePluginExportTests", "Base", "StorageSPI", "CCachectlPlugin", "StoragePluginExport"),
    tests(
      "CommandLineTests", "ChildProcesses", "ArgumentParser", "CacheDomain", "cachectl", "TestOrigin",
      data: ["Libraries"]),
  ]
)

// A build for a sanitizer takes long: .ci/run names those test targets that it needs then.
if let wanted = Context.environment["CACHECTL_TEST_TARGETS"]?.split(separator: " ").map(String.init) {
  package.targets.removeAll { $0.type == .test && !wanted.contains($0.name) }
}
