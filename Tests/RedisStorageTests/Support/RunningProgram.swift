import ChildProcesses
import Foundation

/// A program that runs next to the tests. It is killed with the object, unless it was waited for.
///
/// `@unchecked Sendable`: one test uses it, one call at a time.
final class RunningProgram: @unchecked Sendable {
  private let identifier: pid_t
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("program-\(UUID().uuidString)")
  private var status: Int32?

  /// Starts `arguments`, the first of which is the path of the program, or its name.
  ///
  /// - Parameter variables: the environment; `nil` for the environment of the tests.
  init(_ arguments: [String], _ variables: [String: String]? = nil) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let variables = variables ?? ProcessInfo.processInfo.environment
    identifier = try Spawning.start(
      arguments, variables: variables.map { "\($0)=\($1)" }, folder: folder.path, output: folder.path + "/output",
      errors: folder.path + "/errors")
  }

  deinit {
    if hasEnded == false {
      kill(identifier, SIGKILL)
      _ = Spawning.wait(for: identifier)
    }
    try? FileManager.default.removeItem(at: folder)
  }

  /// Its output so far.
  var output: String { text("output") }
  var errors: String { text("errors") }

  private func text(_ name: String) -> String {
    String(decoding: FileManager.default.contents(atPath: "\(folder.path)/\(name)") ?? Data(), as: UTF8.self)
  }

  var hasEnded: Bool {
    if status != nil { return true }
    var code: Int32 = 0
    guard waitpid(identifier, &code, WNOHANG) == identifier else { return false }
    status = code
    return true
  }

  /// Sends a signal, if the program has not ended.
  func signal(_ number: Int32) { if !hasEnded { kill(identifier, number) } }

  /// Waits for the end, and returns whether the program succeeded.
  func succeeds() async throws -> Bool {
    try await until("a program ends") { hasEnded }
    return status == 0
  }
}
