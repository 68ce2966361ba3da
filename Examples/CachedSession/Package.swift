// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "cached-session",
  dependencies: [.package(name: "cachectl", path: "../..")],
  targets: [
    .executableTarget(
      name: "cached-session",
      dependencies: [
        .product(name: "ResponseCache", package: "cachectl"),
        .product(name: "ResponseCacheURLSession", package: "cachectl"),
        .product(name: "BuiltInEngines", package: "cachectl"),
      ])
  ]
)
