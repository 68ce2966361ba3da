import CacheBase

/// A port of the loopback interface that takes connections and never says anything: the system makes them, and no
/// process takes them from it.
public final class SilentPort: Sendable {
  private let socket: Descriptor

  /// Takes a free port.
  ///
  /// - Throws: `SystemFailure`.
  public init() throws(SystemFailure) {
    socket = try .boundSocket()
    try SystemFailure.check("listen", listen(socket.number, 16))
  }

  /// The number of the port.
  public var port: Int { socket.port }
}
