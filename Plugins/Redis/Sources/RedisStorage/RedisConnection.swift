internal import CHiredis
internal import Glibc
internal import StorageSPI

/// Why nothing came of a connection.
enum RedisDisconnection: Error, Sendable {
  /// No connection could be made.
  case refused(String)
  /// The connection broke, or the other side does not speak the protocol.
  case broken(String)
  /// Nothing came in time.
  case silent
}

/// A connection to one server, logged in.
///
/// It is `@unchecked Sendable` because the pool gives it to one call at a time.
final class RedisConnection: @unchecked Sendable {
  private let context: UnsafeMutablePointer<redisContext>
  let address: RedisAddress
  /// The hash under which the server knows each script.
  private(set) var hashes: [String] = []

  /// Connects to `address`. Cost: a round trip; name resolution where the host is a name.
  init(_ address: RedisAddress, timeout: Duration, silence: Duration) throws(RedisDisconnection) {
    errno = 0
    guard let context = redisConnectWithTimeout(address.host, address.port, timeval(timeout)) else {
      throw .refused("out of memory")
    }
    guard context.pointee.err == 0, redisSetTimeout(context, timeval(silence)) == REDIS_OK else {
      let isSilent = errno == ETIMEDOUT || errno == EINPROGRESS || errno == EAGAIN
      defer { redisFree(context) }
      if context.pointee.err == REDIS_ERR_IO, isSilent { throw .silent }
      throw .refused(String(cString: chiredis_message(context)))
    }
    // Tells in the end when the machine at the other side has gone without a word.
    redisEnableKeepAlive(context)
    (self.context, self.address) = (context, address)
  }

  deinit { redisFree(context) }

  /// Remembers under which hashes the server knows the scripts.
  func learn(_ hashes: [String]) { self.hashes = hashes }

  /// Sends `bytes`. hiredis itself would write to the socket such that a connection that has gone ends the process.
  func send(_ bytes: [UInt8]) throws(RedisDisconnection) {
    var offset = 0
    while offset < bytes.count {
      let count = bytes.withUnsafeBytes {
        Glibc.send(context.pointee.fd, $0.baseAddress?.advanced(by: offset), $0.count - offset, Int32(MSG_NOSIGNAL))
      }
      if count >= 0 {
        offset += count
      } else if errno == EAGAIN {
        throw .silent
      } else if errno != EINTR {
        throw .broken(String(cString: strerror(errno)))
      }
    }
  }

  /// Waits for the next answer.
  func receive() throws(RedisDisconnection) -> RedisReply {
    var pointer: UnsafeMutableRawPointer?
    errno = 0
    let status = redisGetReply(context, &pointer)
    if status == REDIS_OK, let pointer { return RedisReply(pointer) }
    if context.pointee.err == REDIS_ERR_IO, errno == EAGAIN { throw .silent }
    throw .broken(String(cString: chiredis_message(context)))
  }
}

extension timeval {
  /// The time `duration`, at least a microsecond: zero would mean for ever.
  fileprivate init(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    let microseconds = attoseconds / 1_000_000_000_000
    self.init(tv_sec: Int(seconds), tv_usec: seconds == 0 && microseconds < 1 ? 1 : Int(microseconds))
  }
}
