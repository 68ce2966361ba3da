import Foundation

/// A program that has ended.
///
/// Foundation's `Process` is not used, because it crashes if many threads start programs at once.
public struct FinishedProcess: Sendable {
  /// The status with which it ended, or 128 and the number of the signal that ended it.
  public let status: Int32
  /// Its text on stdout.
  public let output: String
  /// Its text on stderr.
  public let errors: String

  /// Runs the program that `arguments` begin with, found by `PATH`, and waits for its end.
  ///
  /// - Parameters:
  ///   - variables: environment variables. They override the variables of this process.
  ///   - folder: the working directory of the program.
  /// - Throws: `Spawning.Failure`, or an error of the file system.
  public init(running arguments: [String], variables: [String: String] = [:], in folder: String = "/") throws {
    let outputs = FileManager.default.temporaryDirectory.appendingPathComponent("output-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: outputs, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: outputs) }
    let (output, errors) = (outputs.appendingPathComponent("output"), outputs.appendingPathComponent("errors"))
    let environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
    let identifier = try Spawning.start(
      arguments, variables: environment.map { "\($0.key)=\($0.value)" }, folder: folder, output: output.path,
      errors: errors.path)
    status = Spawning.wait(for: identifier)
    self.output = String(decoding: try Data(contentsOf: output), as: UTF8.self)
    self.errors = String(decoding: try Data(contentsOf: errors), as: UTF8.self)
  }
}
