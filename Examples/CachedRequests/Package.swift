// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "cached-requests",
  dependencies: [.package(name: "cachectl", path: "../..")],
  targets: [
    .executableTarget(
      name: "cached-requests",
      dependencies: [
        .product(name: "ResponseCache", package: "cachectl"),
        .product(name: "HTTPTransfer", package: "cachectl"),
        .product(name: "LMDBStorage", package: "cachectl"),
      ])
  ]
)
