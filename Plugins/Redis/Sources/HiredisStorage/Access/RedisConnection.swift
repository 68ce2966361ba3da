internal import CHiredis
internal import Platform
internal import StorageSPI

/// Why a connection failed.
enum RedisDisconnection: Error, Sendable {
  /// No connection was established; `hint` says what to do about it, if it is not to start the server.
  case refused(String, hint: String? = nil)
  /// The connection broke, or the peer does not speak the protocol.
  case broken(String)
  /// No answer came in time.
  case silent
  /// The caller was cancelled and no longer waits.
  case abandoned
}

/// A connection to one server, logged in. Its socket never blocks: every wait is a `poll` that ends soon after the call
/// is cancelled.
///
/// `@unchecked Sendable`: the pool gives it to one call at a time; only `interrupt()` may be called meanwhile. A pipeline
/// lets one thread read and another one `offer`, which have nothing in common but the socket.
final class RedisConnection: @unchecked Sendable {
  private let context: UnsafeMutablePointer<redisContext>
  private let silence: Duration
  let address: RedisAddress
  /// The encryption of the connection; `nil` if it has none.
  private let session: RedisTLSSession?
  /// The hash by which the server knows each script.
  private(set) var hashes: [String] = []
  /// The patience of the call that uses the connection; `nil` if nothing can cancel the call.
  var patience: RedisPatience?

  /// Connects to `address`. Cost: a round trip, two with `encryption`, plus name resolution if the host is a name; the
  /// latter cannot be cancelled.
  init(
    _ address: RedisAddress, timeout: Duration, silence: Duration, encryption: RedisEncryption? = nil,
    patience: RedisPatience? = nil
  ) throws(RedisDisconnection) {
    let context =
      address.isSocket ? redisConnectUnixNonBlock(address.host) : redisConnectNonBlock(address.host, address.port)
    guard let context else { throw .refused("out of memory") }
    (self.context, self.address, self.silence, self.patience) = (context, address, silence, patience)
    session = encryption?.session(with: address.host)
    guard (session == nil) == (encryption == nil) else { throw .refused("out of memory") }
    guard context.pointee.err == 0 else { throw .refused(String(cString: chiredis_message(context))) }
    try wait(for: POLLOUT, timeout)
    let error = pendingError()
    if error == ETIMEDOUT { throw .silent }
    guard error == 0 else { throw .refused(String(cString: strerror(error))) }
    // Eventually detects that the peer's machine has disappeared.
    if !address.isSocket { redisEnableKeepAlive(context) }
    if let session { try shakeHands(session, timeout) }
  }

  /// Ends after `timeout`, however many steps the handshake takes.
  private func shakeHands(_ session: RedisTLSSession, _ timeout: Duration) throws(RedisDisconnection) {
    let deadline = ContinuousClock.now.advanced(by: timeout)
    do throws(RedisDisconnection) {
      while try !session.shakeHands() {
        try transmit(session.takeOutput())
        try wait(for: POLLIN, ContinuousClock.now.duration(to: deadline))
        try takeBytes(session)
      }
    } catch {
      // Tells the server why.
      try? transmit(session.takeOutput())
      throw error
    }
    try transmit(session.takeOutput())
  }

  deinit { redisFree(context) }

  /// Ends the connection, and so every wait for it. Any thread may call this.
  func interrupt() { shutdown(context.pointee.fd, Int32(SHUT_RDWR)) }

  /// Records the hashes by which the server knows the scripts.
  func learn(_ hashes: [String]) { self.hashes = hashes }

  /// How many bytes to encrypt at once: OpenSSL's buffer keeps the size that it has once had.
  private static let encryptedAtOnce = 65_536

  /// Sends `bytes`.
  func send(_ bytes: [UInt8]) throws(RedisDisconnection) {
    guard let session else { return try transmit(bytes) }
    for start in stride(from: 0, to: bytes.count, by: Self.encryptedAtOnce) {
      let part = bytes.span.extracting(start..<min(start + Self.encryptedAtOnce, bytes.count))
      try part.withUnsafeBytes { part throws(RedisDisconnection) in try session.write(part) }
      try transmit(session.takeOutput())
    }
  }

  /// Writes `bytes` to the socket. hiredis itself would do so in a way that ends the process if the connection is gone.
  private func transmit(_ bytes: [UInt8]) throws(RedisDisconnection) {
    var offset = 0
    while offset < bytes.count {
      let count = bytes.withUnsafeBytes {
        Sockets.send(context.pointee.fd, UnsafeRawBufferPointer(rebasing: $0[offset...]))
      }
      if count >= 0 {
        offset += count
      } else if errno == EAGAIN {
        try wait(for: POLLOUT, silence)
      } else if errno != EINTR {
        throw .broken(String(cString: strerror(errno)))
      }
    }
  }

  /// Waits for the next reply.
  func receive() throws(RedisDisconnection) -> RedisReply {
    while true {
      if let reply = try takeReply() { return reply }
      try wait(for: POLLIN, silence)
      try takeBytes()
    }
  }

  /// Waits for the next reply until `deadline`; `nil` if there is none by then.
  func receive(until deadline: ContinuousClock.Instant) throws(RedisDisconnection) -> RedisReply? {
    while true {
      if let reply = try takeReply() { return reply }
      guard try isReady(for: POLLIN, within: ContinuousClock.now.duration(to: deadline)) else { return nil }
      try takeBytes()
    }
  }

  /// Writes what the socket takes of `bytes` at the moment, and returns how many that are; `nil` if the connection is
  /// broken. Only for a connection without encryption.
  func offer(_ bytes: [UInt8]) -> Int? {
    while true {
      let count = bytes.withUnsafeBytes { Sockets.send(context.pointee.fd, $0) }
      if count >= 0 { return count }
      if errno == EAGAIN { return 0 }
      if errno != EINTR { return nil }
    }
  }

  /// All replies that have arrived; call it when the socket is ready.
  func takeArrived() throws(RedisDisconnection) -> [RedisReply] {
    try takeBytes()
    var replies: [RedisReply] = []
    while let reply = try takeReply() { replies.append(reply) }
    return replies
  }

  /// The next reply, if all of it has arrived.
  private func takeReply() throws(RedisDisconnection) -> RedisReply? {
    if let session {
      try session.read { redisReaderFeed(context.pointee.reader, $0.baseAddress, $0.count) }
      try transmit(session.takeOutput())
    }
    var pointer: UnsafeMutableRawPointer?
    guard redisGetReplyFromReader(context, &pointer) == REDIS_OK else { throw broken }
    return pointer.map { RedisReply($0) }
  }

  /// Takes what has arrived on the socket.
  private func takeBytes() throws(RedisDisconnection) {
    if let session {
      try takeBytes(session)
    } else {
      guard redisBufferRead(context) == REDIS_OK else { throw broken }
    }
  }

  /// Hands what has arrived on the socket to the session.
  private func takeBytes(_ session: RedisTLSSession) throws(RedisDisconnection) {
    let descriptor = context.pointee.fd
    let count = withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 1) { room in
      let count = recv(descriptor, room.baseAddress, room.count, 0)
      if count > 0 { session.receive(UnsafeRawBufferPointer(rebasing: room[..<count])) }
      return count
    }
    if count == 0 { throw .broken("the server has closed the connection") }
    if count < 0, errno != EAGAIN, errno != EINTR { throw .broken(String(cString: strerror(errno))) }
  }

  private var broken: RedisDisconnection { .broken(String(cString: chiredis_message(context))) }

  /// Waits until the socket is ready, for at most `timeout`.
  private func wait(for event: Int32, _ timeout: Duration) throws(RedisDisconnection) {
    guard try isReady(for: event, within: timeout) else { throw .silent }
  }

  /// Waits until the socket is ready, and returns whether it is within `timeout`. It checks twenty times a second
  /// whether the call was cancelled, if something can cancel it.
  func isReady(for event: Int32, within timeout: Duration) throws(RedisDisconnection) -> Bool {
    let deadline = ContinuousClock.now.advanced(by: timeout)
    while true {
      let left = ContinuousClock.now.duration(to: deadline)
      var descriptor = pollfd(fd: context.pointee.fd, events: Int16(event), revents: 0)
      let pause = min(max(left, .zero), patience == nil ? .seconds(60) : .milliseconds(50))
      // Rounded up: a wait of less than a millisecond must not become a busy loop.
      if poll(&descriptor, 1, Int32((pause / .milliseconds(1)).rounded(.up))) > 0 { return true }
      if patience?.isOver == true { throw .abandoned }
      if left <= .zero { return false }
    }
  }

  /// The result of connecting, as an `errno`.
  private func pendingError() -> Int32 {
    var (error, size) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
    return getsockopt(context.pointee.fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno
  }
}
