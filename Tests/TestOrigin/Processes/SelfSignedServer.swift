import ChildProcesses
import CacheBase

/// A server of HTTPS on the loopback interface whose certificate no system trusts. Both are openssl's; the certificate
/// is made when the server starts.
public final class SelfSignedServer: Sendable {
  /// The port.
  public let port: Int
  private let process: pid_t
  private let certificate: SelfSignedCertificate

  /// Makes a certificate and starts the server, which may want one of its clients: its own, with its key, will do. It
  /// listens when this returns.
  ///
  /// - Throws: `ProcessFailure`, `Spawning.Failure` or `SystemFailure`.
  public init(wantsClientCertificate: Bool = false) throws {
    let certificate = try SelfSignedCertificate()
    let folder = certificate.folder
    let pipe = try NamedPipe(folder.path("pipe"))
    let trust =
      wantsClientCertificate ? ["-Verify", "1", "-verify_return_error", "-CAfile", certificate.file] : []
    let files = ["-cert", certificate.file, "-key", certificate.keyFile]
    process = try folder.start(
      ["openssl", "s_server", "-www", "-accept", "127.0.0.1:0"] + trust + files, output: "pipe")
    guard let port = pipe.lines().firstMatch(of: /ACCEPT .*:(\d+)/).flatMap({ Int($0.1) }) else {
      Spawning.end(process)
      throw ProcessFailure(message: folder.text("errors"))
    }
    self.port = port
    self.certificate = certificate
  }

  deinit { Spawning.end(process) }

  /// The file of the certificate.
  public var certificateFile: String { certificate.file }
  /// The file of its key.
  public var keyFile: String { certificate.keyFile }

  /// The URL of a page of the server.
  public var url: String { "https://127.0.0.1:\(port)" }
}

extension Spawning {
  /// Ends a program that `timeout` runs, which passes the signal on.
  static func end(_ process: pid_t) {
    kill(process, SIGTERM)
    _ = wait(for: process)
  }
}
