import Glibc

/// What is open in this process. Other tests open and close descriptors too, so that only those of one server count: the
/// connections whose other end is its port.
enum OpenDescriptors {
  /// How many descriptors there are.
  static var all: Int { (0..<Int32(4096)).count { fcntl($0, F_GETFD) >= 0 } }

  /// How many connections lead to `port`.
  static func connections(to port: Int) -> Int {
    (0..<Int32(4096)).count { descriptor in
      var address = sockaddr_in()
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let result = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) }
      }
      return result == 0 && UInt16(bigEndian: address.sin_port) == UInt16(port)
    }
  }
}
