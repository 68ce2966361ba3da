import ChildProcesses
import Foundation
import CacheBase

/// nginx on the loopback interface: over HTTP/1.1, and over TLS with HTTP/1.1 and with HTTP/2.
///
/// It inherits sockets that listen already, so that no port has to be guessed and no start to be waited for.
public final class NginxServer: Sendable {
  /// The URL of the server, without a slash at its end.
  public let url: String
  /// The same over TLS.
  public let secureURL: String
  /// The same over HTTP/2.
  public let http2URL: String
  private let process: pid_t
  private let certificate: SelfSignedCertificate

  /// Starts a server of `files`, which are named by their paths, with further `directives` for its configuration.
  ///
  /// - Throws: `ProcessFailure`, `Spawning.Failure`, `SystemFailure` or an error of the file system.
  public init(files: [String: [UInt8]], _ directives: String) throws {
    certificate = try SelfSignedCertificate()
    let folder = certificate.folder
    try FileManager.default.createDirectory(atPath: folder.path("files"), withIntermediateDirectories: false)
    for (name, bytes) in files { try Data(bytes).write(to: URL(fileURLWithPath: folder.path("files/\(name)"))) }
    let sockets = try (0..<3).map { _ in try Descriptor.boundSocket() }
    for socket in sockets { try SystemFailure.check("listen", listen(socket.number, 64)) }
    let hosts = sockets.map { "127.0.0.1:\($0.port)" }
    (url, secureURL, http2URL) = ("http://\(hosts[0])", "https://\(hosts[1])", "https://\(hosts[2])")
    try Data(Self.configuration(hosts, directives).utf8).write(to: URL(fileURLWithPath: folder.path("nginx.conf")))
    process = try folder.start(
      ["nginx", "-p", folder.path(""), "-c", "nginx.conf", "-e", "stderr"],
      variables: ["NGINX=" + sockets.map { "\($0.number);" }.joined()], keeping: sockets.map(\.number),
      output: "nginx.out")
  }

  deinit { Spawning.end(process) }

  /// The file of the certificate.
  public var certificateFile: String { certificate.file }
  /// What nginx said of failures.
  public var errors: String { certificate.folder.text("errors") }

  private static func configuration(_ hosts: [String], _ directives: String) -> String {
    // As root it would give its worker to another user, who may not read the files.
    let user = getuid() == 0 ? "user root;" : ""
    let folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \($0);" }.joined()
    return """
      \(user) daemon off; worker_processes 1; pid nginx.pid; error_log stderr;
      events { }
      http {
        access_log off; \(folders)
        types { text/plain txt; } default_type application/octet-stream;
        ssl_certificate certificate.pem; ssl_certificate_key key.pem;
        server {
          listen \(hosts[0]); listen \(hosts[1]) ssl; listen \(hosts[2]) ssl http2;
          root files;
          \(directives)
        }
      }
      """
  }
}
