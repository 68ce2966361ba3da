import Foundation
import Testing

/// A machine on which the program runs: it has a separate home, and shares a server with others.
final class Machine: Sendable {
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("machine-\(UUID().uuidString)")

  init(_ server: RedisServer) throws {
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let configuration = """
      {"backend": "redis", "backends": {
        "redis": {"url": "\(server.url)", "timeout": "10m", "connectTimeout": "10m"},
        "tiered": {"local": "lmdb", "remote": "redis"}}}
      """
    try configuration.write(toFile: path("config.json"), atomically: false, encoding: .utf8)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// The path of a file of this machine.
  func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

  /// Starts the program; `prefix` starts it, if there is one.
  func start(_ prefix: [String] = [], _ arguments: [String]) throws -> RunningProgram {
    let program = ProcessInfo.processInfo.environment["CACHECTL_BINARY"] ?? BuiltProducts.path("cachectl")
    return try RunningProgram(
      prefix + [program, "--config", path("config.json")] + arguments,
      ["PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "HOME": folder.path, "CACHECTL_HOME": path("home")])
  }

  /// Returns the output of the program, which must succeed without a warning.
  @discardableResult
  func cachectl(_ arguments: String...) async throws -> String {
    let program = try start(arguments)
    #expect(try await program.succeeds(), "\(arguments): \(program.errors)")
    #expect(!program.errors.contains("warning"), "\(arguments): \(program.errors)")
    return program.output
  }
}

extension Machine {
  private func start(_ arguments: [String]) throws -> RunningProgram { try start([], arguments) }
}
