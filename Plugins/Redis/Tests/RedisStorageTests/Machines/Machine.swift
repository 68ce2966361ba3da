import Foundation

/// A machine on which the program runs: a home of its own, and a server and an origin that it shares with others.
final class Machine: Sendable {
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("machine-\(UUID().uuidString)")

  init(_ server: RedisServer, _ origin: HeldOrigin) throws {
    // For the user alone: libraries are loaded from nowhere else.
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try FileManager.default.copyItem(
      atPath: BuiltProducts.path("libcachectl-redis.so"), toPath: path("libcachectl-redis.so"))
    let configuration = """
      {"backend": "redis", "backends": {"redis": {"url": "\(server.url)", "timeout": "10m", "connectTimeout": "10m"}},
       "origin": {"cities": {"kind": "http", "baseURL": "\(origin.url)/cities", "timeout": "10m"}}}
      """
    try configuration.write(toFile: path("config.json"), atomically: false, encoding: .utf8)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// Starts a fetch of the cities in a process that `prefix` starts, and that prints a document.
  func fetchCities(_ prefix: [String] = []) throws -> ChildProcess {
    let program = ProcessInfo.processInfo.environment["CACHECTL_BINARY"] ?? BuiltProducts.path("cachectl")
    return try ChildProcess(
      prefix + [program, "--config", path("config.json"), "--output", "json", "fetch", "cities"],
      environment: [
        "PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "HOME": folder.path, "CACHECTL_HOME": path("home"),
        "CACHECTL_PLUGIN_PATH": folder.path,
      ])
  }

  private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }
}
