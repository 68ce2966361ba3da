import CTestOrigin
import CacheBase

/// A file descriptor that is closed with the object.
final class Descriptor: Sendable {
  let number: Int32

  /// Takes over the descriptor that `call` returned.
  ///
  /// - Throws: `SystemFailure` if the call failed.
  init(_ call: String, _ result: Int32) throws(SystemFailure) { number = try SystemFailure.check(call, result) }

  deinit { close(number) }

  /// A socket that is bound to a free port of the loopback interface, by default over IPv4.
  static func boundSocket(ofIPv6: Bool = false) throws(SystemFailure) -> Descriptor {
    if ofIPv6 { return try Descriptor("bind", ctestorigin_listener6()) }
    let socket = try Descriptor(
      "socket", CacheBase.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(socket.number, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    try SystemFailure.check("bind", result)
    return socket
  }

  /// The port of this end of a socket; 0 if it has none.
  var port: Int {
    // The port is at the same place in an address of IPv4 and one of IPv6.
    var address = sockaddr_in6()
    var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
    let result = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(number, $0, &length) }
    }
    return result == 0 ? Int(UInt16(bigEndian: address.sin6_port)) : 0
  }

  /// Ends a socket for both sides, and with it every call that waits for it.
  func shutDown() { shutdown(number, Int32(SHUT_RDWR)) }
}

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
  /// A URL at which no server responds.
  public var url: String { "http://127.0.0.1:\(port)" }
}

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

/// Holds responses back until a test opens it. It opens once, and stays open.
public final class TestGate: Sendable {
  /// A pipe with a byte in it once the gate is open: so a thread can wait for the gate and for a socket at once.
  private let exit: Descriptor
  private let entry: Descriptor

  /// A gate that is closed.
  ///
  /// - Throws: `SystemFailure`.
  public init() throws(SystemFailure) {
    var ends: [Int32] = [-1, -1]
    let result = ctestorigin_pipe(&ends)
    exit = try Descriptor("pipe", result < 0 ? result : ends[0])
    entry = try Descriptor("pipe", ends[1])
  }

  /// Releases every response that is held back, and all later ones.
  public func open() { _ = write(entry.number, [1], 1) }

  /// Waits until the gate is open.
  ///
  /// - Returns: whether it is; `false` if the peer of `connection` closed it first.
  func wait(on connection: Connection) -> Bool {
    while true {
      var events = [
        pollfd(fd: exit.number, events: Int16(POLLIN), revents: 0),
        pollfd(fd: connection.descriptor.number, events: Int16(POLLIN), revents: 0),
      ]
      guard poll(&events, 2, -1) >= 0 || errno == EINTR else { return false }
      if events[0].revents != 0 { return true }
      if events[1].revents != 0 { return connection.isOpen ? waitAlone() : false }
    }
  }

  /// Waits for the gate only: the peer has sent more, which tells nothing about when it closes.
  private func waitAlone() -> Bool {
    var events = pollfd(fd: exit.number, events: Int16(POLLIN), revents: 0)
    while poll(&events, 1, -1) < 0 { if errno != EINTR { return false } }
    return true
  }
}

/// A call of the system that failed.
public struct SystemFailure: Error, CustomStringConvertible {
  /// The name of the call.
  public let call: String
  /// Its error number.
  public let number: Int32

  /// The call and the system's message for the number.
  public var description: String { "\(call): \(String(cString: strerror(number)))" }

  /// `result`, unless it means that the call failed.
  ///
  /// - Throws: `SystemFailure` for a negative result, with the current error number.
  @discardableResult static func check(_ call: String, _ result: Int32) throws(SystemFailure) -> Int32 {
    guard result >= 0 else { throw SystemFailure(call: call, number: errno) }
    return result
  }
}
