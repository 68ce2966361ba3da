// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "shared-server",
  dependencies: [.package(name: "cachectl", path: "../..")],
  targets: [
    .executableTarget(
      name: "shared-server",
      dependencies: [
        .product(name: "CurlTransport", package: "cachectl"),
        .product(name: "RedisStorage", package: "cachectl"),
        .product(name: "ResponseCache", package: "cachectl"),
      ])
  ]
)
