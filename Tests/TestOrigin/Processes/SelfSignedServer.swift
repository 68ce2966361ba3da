import ChildProcesses
import Foundation
import Synchronization

/// A server of HTTPS on the loopback interface whose certificate nobody trusts. Both are openssl's; the certificate is
/// made when the server starts.
public final class SelfSignedServer: Sendable {
  /// What keeps the server from starting.
  public struct Failure: Error {
    /// What openssl said.
    public let message: String
  }

  /// The port.
  public let port: Int
  private let process: pid_t
  private let folder: TemporaryFolder

  /// Makes a certificate and starts the server, which may want one of its clients: its own, with its key, will do. It
  /// listens when this returns.
  ///
  /// - Throws: `Failure`, `Spawning.Failure` or `SystemFailure`.
  public init(wantsClientCertificate: Bool = false) throws {
    let folder = try TemporaryFolder()
    let key = [
      "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
      "-addext", "subjectAltName=IP:127.0.0.1",
    ]
    let maker = try Self.start(["req", "-x509"] + key, "-out", folder, output: "req.out")
    guard Spawning.wait(for: maker) == 0 else { throw Failure(message: folder.text("errors")) }
    let pipe = try NamedPipe(folder.path("pipe"))
    let trust =
      wantsClientCertificate ? ["-Verify", "1", "-verify_return_error", "-CAfile", folder.path("certificate.pem")] : []
    process = try Self.start(["s_server", "-www", "-accept", "127.0.0.1:0"] + trust, "-cert", folder, output: "pipe")
    guard let port = pipe.lines().firstMatch(of: /ACCEPT .*:(\d+)/).flatMap({ Int($0.1) }) else {
      Self.end(process)
      throw Failure(message: folder.text("errors"))
    }
    self.port = port
    self.folder = folder
  }

  deinit { Self.end(process) }

  /// The file of the certificate.
  public var certificateFile: String { folder.path("certificate.pem") }
  /// The file of its key.
  public var keyFile: String { folder.path("key.pem") }

  /// The URL of a page of the server.
  public var url: String { "https://127.0.0.1:\(port)" }

  private static func start(
    _ arguments: [String], _ certificate: String, _ folder: TemporaryFolder, output: String
  ) throws -> pid_t {
    let files = ["-keyout", folder.path("key.pem"), certificate, folder.path("certificate.pem")]
    let names = certificate == "-cert" ? ["-key"] + files.dropFirst() : files
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    return try Spawning.start(
      // A server whose test was killed ends by itself.
      ["timeout", "300", "openssl"] + arguments + names, variables: ["PATH=\(path)"], folder: folder.path,
      output: folder.path(output), errors: folder.path("errors"))
  }

  private static func end(_ process: pid_t) {
    // `timeout` passes it on.
    kill(process, SIGTERM)
    _ = Spawning.wait(for: process)
  }
}

/// A folder that is removed with its last reference.
private final class TemporaryFolder: Sendable {
  let path = NSTemporaryDirectory() + "test-origin-\(UUID().uuidString)"

  init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func path(_ name: String) -> String { "\(path)/\(name)" }

  func text(_ name: String) -> String { (try? String(contentsOfFile: path(name), encoding: .utf8)) ?? "" }
}
