import CacheBase

/// A connection as a server has it: bytes in, bytes out.
final class Connection: Sendable {
  let descriptor: Descriptor
  private let onSend: @Sendable (Int) -> Void

  /// The connection that `descriptor` is. `onSend` receives the number of bytes that the system took.
  init(_ descriptor: Descriptor, onSend: @escaping @Sendable (Int) -> Void = { _ in }) {
    self.descriptor = descriptor
    self.onSend = onSend
    var on: Int32 = 1
    setsockopt(descriptor.number, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
  }

  /// Whether the peer has not closed its side, as far as can be told without waiting.
  var isOpen: Bool {
    var byte: UInt8 = 0
    let flags = Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)
    let count = recv(descriptor.number, &byte, 1, flags)
    return count > 0 || (count < 0 && [EAGAIN, EINTR].contains(errno))
  }

  /// The next bytes, at most `limit`; none at the end of the connection.
  func receive(_ limit: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
      var result = -1
      repeat { result = recv(descriptor.number, buffer.baseAddress, limit, 0) } while result < 0 && errno == EINTR
      count = max(0, result)
    }
  }

  /// Sends all of `bytes`.
  ///
  /// - Returns: whether the peer took them; `false` where it has closed the connection.
  func send(_ bytes: ArraySlice<UInt8>) -> Bool {
    bytes.withUnsafeBytes { buffer in
      var sent = 0
      while sent < buffer.count {
        let rest = UnsafeRawBufferPointer(rebasing: buffer[sent...])
        let count = Sockets.send(descriptor.number, rest)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return false }
        sent += count
        onSend(count)
      }
      return true
    }
  }

  func send(_ text: String) -> Bool { send(Array(text.utf8)[...]) }

  /// Says that nothing more comes, and takes what the peer still sends: a connection that is closed with bytes unread
  /// is reset, and the peer might lose what it was sent.
  func finish() {
    shutdown(descriptor.number, Int32(SHUT_WR))
    var limit = timeval(tv_sec: 1, tv_usec: 0)
    setsockopt(descriptor.number, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    while !receive(65536).isEmpty {}
  }
}
