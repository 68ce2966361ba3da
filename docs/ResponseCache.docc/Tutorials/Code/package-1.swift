// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "rates",
  dependencies: [.package(path: "../cachectl")],
  targets: [
    .executableTarget(
      name: "rates",
      dependencies: [
        .product(name: "ResponseCache", package: "cachectl"),
        .product(name: "SQLiteStorage", package: "cachectl"),
      ])
  ])
