import CacheBase

/// The open descriptors of this process. Other tests open and close some too, so the tests count only connections to
/// one server's port.
enum OpenDescriptors {
  /// The number of open descriptors.
  static var all: Int { (0..<Int32(4096)).count { fcntl($0, F_GETFD) >= 0 } }

  /// The number of connections to `port`.
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
