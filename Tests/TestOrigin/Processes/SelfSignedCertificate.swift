import ChildProcesses
import Foundation

/// A certificate for 127.0.0.1 that no system trusts, with its key. openssl makes it; the files go with it.
final class SelfSignedCertificate: Sendable {
  let folder: TemporaryFolder

  /// Makes the certificate.
  ///
  /// - Throws: `ProcessFailure`, `Spawning.Failure` or an error of the file system.
  init() throws {
    folder = try TemporaryFolder()
    let key = [
      "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
      "-addext", "subjectAltName=IP:127.0.0.1",
    ]
    let files = ["-keyout", keyFile, "-out", file]
    let maker = try folder.start(["openssl", "req", "-x509"] + key + files, output: "openssl.out")
    guard Spawning.wait(for: maker) == 0 else { throw ProcessFailure(message: folder.text("errors")) }
  }

  var file: String { folder.path("certificate.pem") }
  var keyFile: String { folder.path("key.pem") }
}

/// What keeps a server from starting.
public struct ProcessFailure: Error {
  /// What its program said.
  public let message: String
}

/// A folder that is removed with its last reference.
final class TemporaryFolder: Sendable {
  let path = NSTemporaryDirectory() + "test-origin-\(UUID().uuidString)"

  init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func path(_ name: String) -> String { "\(path)/\(name)" }

  func text(_ name: String) -> String { (try? String(contentsOfFile: path(name), encoding: .utf8)) ?? "" }

  /// Starts a program in the folder, which ends by itself where the test is killed. It writes to files in the folder.
  func start(
    _ arguments: [String], variables: [String] = [], keeping descriptors: [Int32] = [], output: String
  ) throws -> pid_t {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    return try Spawning.start(
      ["timeout", "3600"] + arguments, variables: ["PATH=\(path):/usr/sbin"] + variables, folder: self.path,
      output: self.path(output), errors: self.path("errors"), keeping: descriptors)
  }
}
