import Foundation
import Testing

/// The result of a process that ended: its status and its output.
struct Run: Sendable {
  /// The exit code; 128 and the number of the signal if a signal ended the process, as shells report it.
  let status: Int32
  let output: Data
  let errors: String

  var text: String { String(decoding: output, as: UTF8.self) }
  var lines: [String] { text.split(separator: "\n").map(String.init) }
  /// The lines on stderr, except hints. Each hint has a line below the one that it belongs to.
  var errorLines: [String] { errors.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("  hint: ") } }

  /// The one document on stdout.
  func document() throws -> JSON { try JSON(output) }

  /// The documents on the lines of stdout.
  func documents() throws -> [JSON] { try lines.map { try JSON(Data($0.utf8)) } }
}

extension Scratch {
  /// Runs the tool with a clean environment in which all paths are below this directory.
  func cachectl(_ arguments: String..., environment: [String: String] = [:]) async throws -> Run {
    try await cachectl(arguments, environment: environment)
  }

  /// Runs the tool.
  func cachectl(_ arguments: [String], environment: [String: String] = [:]) async throws -> Run {
    try await run(Binary.path, arguments, environment: environment)
  }

  /// Runs any program.
  func run(
    _ program: String, _ arguments: [String], environment: [String: String] = [:], outputTo device: String? = nil
  ) async throws -> Run {
    await RunningProgram.turnstile.enter()
    do {
      let program = try RunningProgram(program, arguments, in: self, environment: environment, outputTo: device)
      let run = try await program.end()
      await RunningProgram.turnstile.leave()
      return run
    } catch {
      await RunningProgram.turnstile.leave()
      throw error
    }
  }

  /// Runs a command that a hint prints.
  func shell(_ command: String) async throws -> Run {
    let folder = URL(fileURLWithPath: Binary.path).deletingLastPathComponent().path
    return try await run("/bin/sh", ["-c", command], environment: ["PATH": "\(folder):/usr/bin:/bin"])
  }

  /// The environment of a program that is run here. A process that a busy machine holds up while it has a store locked
  /// fails no other.
  var cleanEnvironment: [String: String] {
    [
      "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "HOME": path("user"),
      "XDG_CONFIG_HOME": path("user/config"), "XDG_CACHE_HOME": path("user/cache"), "TMPDIR": path("temporary"),
      "CACHECTL_HOME": home, "LC_ALL": "C.UTF-8",
      "CACHECTL_SQLITE_BUSY_TIMEOUT": "5m", "CACHECTL_PLIST_BUSY_TIMEOUT": "5m",
    ]
  }
}

/// The tool under test.
enum Binary {
  /// `CACHECTL_BINARY`, or the product that the build puts next to the tests.
  static let path: String =
    ProcessInfo.processInfo.environment["CACHECTL_BINARY"]
    ?? besideTheTests.appendingPathComponent("cachectl").path

  private static var besideTheTests: URL {
    // The test bundle is the first argument that SwiftPM gives to the runner of tests, or the runner itself.
    let arguments = CommandLine.arguments
    let bundle = arguments.first { $0.hasSuffix(".xctest") } ?? arguments[0]
    return URL(fileURLWithPath: bundle).resolvingSymlinksInPath().deletingLastPathComponent()
  }
}
