import CTestOrigin
import CacheBase

/// A file descriptor of its own, closed with it.
final class Descriptor: Sendable {
  let number: Int32

  /// Takes over the descriptor that `call` returned.
  ///
  /// - Throws: `SystemFailure` where the call failed.
  init(_ call: String, _ result: Int32) throws(SystemFailure) {
    number = try SystemFailure.check(call, result)
  }

  deinit { close(number) }

  /// A socket that is bound to a free port of the loopback interface, by default that of IPv4.
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

  /// The port of this end of a socket; 0 where it has none.
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
