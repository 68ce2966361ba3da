import Foundation
import Testing

/// What a run of the program left behind.
struct Run: Sendable {
  let status: Int32
  let outputBytes: [UInt8]
  let errors: String

  var output: String { String(decoding: outputBytes, as: UTF8.self) }

  /// The one JSON document on the standard output.
  func json() throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(outputBytes)) as? [String: Any], "\(output)")
  }

  /// The JSON documents on the standard output, one a line.
  func lines() throws -> [[String: Any]] {
    try output.split(separator: "\n").map { line in
      try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
    }
  }
}

/// A folder of its own for each test, with a home for stores, in which the built program runs. It is removed at the end.
final class Sandbox: Sendable {
  let folder: String
  var home: String { folder + "/home" }

  init() throws {
    folder = FileManager.default.temporaryDirectory.path + "/cachectl-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// The program: what `CACHECTL_BINARY` names, or the product beside the running tests.
  static let program: String = {
    if let path = ProcessInfo.processInfo.environment["CACHECTL_BINARY"] { return path }
    let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    let candidates = [tests, URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()]
    return candidates.map { $0.appendingPathComponent("cachectl").path }
      .first { FileManager.default.isExecutableFile(atPath: $0) } ?? "cachectl"
  }()

  /// Runs the program, or another one, with a clean environment in the folder.
  func run(
    _ arguments: String..., environment: [String: String] = [:], program: String = Sandbox.program,
    output: String? = nil
  ) async throws -> Run {
    try await run(arguments, environment: environment, program: program, output: output)
  }

  func run(
    _ arguments: [String], environment: [String: String] = [:], program: String = Sandbox.program,
    output: String? = nil
  ) async throws -> Run {
    let (process, files) = try process(arguments, environment, program, output)
    let status = try await withCheckedThrowingContinuation { continuation in
      process.terminationHandler = { process in
        let isSignal = process.terminationReason == .uncaughtSignal
        continuation.resume(returning: isSignal ? 1_000 + process.terminationStatus : process.terminationStatus)
      }
      do { try process.run() } catch { continuation.resume(throwing: error) }
    }
    let bytes = output == nil ? try Data(contentsOf: files.output) : Data()
    let errors = String(decoding: try Data(contentsOf: files.errors), as: UTF8.self)
    return Run(status: status, outputBytes: Array(bytes), errors: errors)
  }

  /// A process that has not been started, and the files that it writes to.
  func process(
    _ arguments: [String], _ environment: [String: String] = [:], _ program: String = Sandbox.program,
    _ output: String? = nil
  ) throws -> (process: Process, files: (output: URL, errors: URL)) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    process.currentDirectoryURL = URL(fileURLWithPath: folder)
    var all = [
      "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "HOME": folder, "CACHECTL_HOME": home,
      "TMPDIR": folder,
    ]
    all.merge(environment) { $1 }
    process.environment = all
    process.standardInput = FileHandle.nullDevice
    let names = (folder + "/output-\(UUID().uuidString)", folder + "/errors-\(UUID().uuidString)")
    let files = (output: URL(fileURLWithPath: output ?? names.0), errors: URL(fileURLWithPath: names.1))
    for file in [files.output, files.errors] where file.path != output {
      try Data().write(to: file)
    }
    process.standardOutput = try FileHandle(forWritingTo: files.output)
    process.standardError = try FileHandle(forWritingTo: files.errors)
    return (process, files)
  }

  /// Runs a tool that is found on the path; that it is missing is a failure.
  func tool(_ name: String, _ arguments: String...) async throws -> Run {
    try await run([name] + arguments, program: "/usr/bin/env")
  }

  /// Writes a file in the folder and returns its path.
  @discardableResult
  func write(_ text: String, to name: String) throws -> String {
    let path = folder + "/" + name
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    return path
  }
}

/// The engines that keep entries between two runs, and the file that holds them.
enum Engines {
  static let persistent = ["sqlite", "lmdb", "plist"]
  static let all = persistent + ["memory"]

  /// Where the entries of cities are, below the home.
  static let dataFiles = ["sqlite": "cache.sqlite", "lmdb": "lmdb/data.mdb", "plist": "plist/cities.json"]
}

/// The items of a page as comparable text.
func items(_ document: [String: Any]) throws -> String {
  let data = try JSONSerialization.data(withJSONObject: try #require(document["items"]), options: .sortedKeys)
  return String(decoding: data, as: UTF8.self)
}
