// swift-tools-version: 6.2
import PackageDescription

let features = [
  "ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility", "NonisolatedNonsendingByDefault",
]
let settings: [SwiftSetting] = features.map { .enableUpcomingFeature($0) }

let package = Package(
  name: "cachectl-notebook",
  products: [
    // The name of the file: libcachectl-NAME.so, where NAME is what the engine declares.
    .library(name: "cachectl-notebook", type: .dynamic, targets: ["NotebookLibrary"])
  ],
  dependencies: [
    // The path of cachectl's repository: two folders up here. Change it if you move this package.
    .package(name: "cachectl", path: "../..")
  ],
  targets: [
    .target(
      name: "Notebook",
      dependencies: [
        .product(name: "CacheBase", package: "cachectl"), .product(name: "EngineAPI", package: "cachectl"),
      ],
      swiftSettings: settings),
    // The engine as a library. Its settings are not for tests, which are linked otherwise: hence its own target.
    .target(
      name: "NotebookLibrary",
      dependencies: ["Notebook", .product(name: "EngineExport", package: "cachectl")],
      swiftSettings: settings,
      linkerSettings: [
        // FoundationEssentials needs these if it is linked statically.
        .linkedLibrary("_FoundationCollections"), .linkedLibrary("_FoundationCShims"),
        // The library brings the Swift runtime along and keeps all names but `cachectl_plugin` to itself.
        .unsafeFlags([
          "-static-stdlib", "-Xlinker", "--version-script=\(Context.packageDirectory)/exports.map",
        ]),
      ]),
    .testTarget(
      name: "NotebookTests",
      dependencies: [
        "Notebook", .product(name: "EngineAPI", package: "cachectl"),
        .product(name: "EngineConformance", package: "cachectl"),
      ],
      swiftSettings: settings),
  ]
)
