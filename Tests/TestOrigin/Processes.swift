import CacheBase
import ChildProcesses
import Foundation

/// A pipe with a name, to read what a program writes to it.
struct NamedPipe {
  private let descriptor: Descriptor

  /// Makes the pipe at `path` and opens it for reading, without waiting for a writer.
  ///
  /// - Throws: `SystemFailure`.
  init(_ path: String) throws(SystemFailure) {
    try SystemFailure.check("mkfifo", mkfifo(path, 0o600))
    descriptor = try Descriptor("open", open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC))
  }

  /// Returns the output until a line that begins with "ACCEPT" is complete, or the last writer has ended. A writer must
  /// exist.
  func lines() -> String {
    _ = fcntl(descriptor.number, F_SETFL, 0)
    var text = ""
    while !text.contains(/ACCEPT .*\n/) {
      let bytes = [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
        count = max(0, read(descriptor.number, buffer.baseAddress, 4096))
      }
      guard !bytes.isEmpty else { break }
      text += String(decoding: bytes, as: UTF8.self)
    }
    return text
  }
}

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
    let trust = wantsClientCertificate ? ["-Verify", "1", "-verify_return_error", "-CAfile", certificate.file] : []
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

/// nginx on the loopback interface: over HTTP/1.1, and over TLS with HTTP/1.1 and with HTTP/2.
///
/// It inherits sockets that listen already. So nobody must guess a port or wait for the start.
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
  /// The errors in the log of nginx.
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

/// A reason why a server cannot start.
public struct ProcessFailure: Error {
  /// The output of its program.
  public let message: String
}

/// A folder that is removed with its last reference.
final class TemporaryFolder: Sendable {
  let path = NSTemporaryDirectory() + "test-origin-\(UUID().uuidString)"

  init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func path(_ name: String) -> String { "\(path)/\(name)" }

  func text(_ name: String) -> String { (try? String(contentsOfFile: path(name), encoding: .utf8)) ?? "" }

  /// Starts a program in the directory. It ends by itself if the test is killed. It writes to files in the directory.
  func start(
    _ arguments: [String], variables: [String] = [], keeping descriptors: [Int32] = [], output: String
  ) throws -> pid_t {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    return try Spawning.start(
      ["timeout", "3600"] + arguments, variables: ["PATH=\(path):/usr/sbin"] + variables, folder: self.path,
      output: self.path(output), errors: self.path("errors"), keeping: descriptors)
  }
}
