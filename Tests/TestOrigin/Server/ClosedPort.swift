/// A port of the loopback interface at which no server listens: connections are refused. It is taken, so that no one else
/// gets it as long as this lives.
public final class ClosedPort: Sendable {
  private let socket: Descriptor

  /// Takes a free port.
  ///
  /// - Throws: `SystemFailure`.
  public init() throws(SystemFailure) { socket = try .boundSocket() }

  /// The number of the port.
  public var port: Int { socket.port }
  /// A URL at which no server answers.
  public var url: String { "http://127.0.0.1:\(port)" }
}
