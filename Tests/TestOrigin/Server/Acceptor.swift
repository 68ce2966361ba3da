import CTestOrigin
import CacheBase

/// Takes the connections that come to a listener, whatever happens to single ones.
struct Acceptor: Sendable {
  let listener: Descriptor
  /// The call that takes a connection of the listener with a number: tests have it fail.
  var call: @Sendable (Int32) -> Int32 = ctestorigin_accept

  /// The next connection; `nil` once the listener is shut down, for which accept(2) has EINVAL.
  ///
  /// Every other failure passes: that of one connection, or a lack of descriptors or memory, which ends with other
  /// connections.
  func next() -> Descriptor? {
    while true {
      do throws(SystemFailure) { return try Descriptor("accept", call(listener.number)) } catch {
        switch error.number {
        case EINVAL: return nil
        case EINTR, ECONNABORTED: break
        // The connection stays in line: without a pause this would go round and round.
        default: usleep(1000)
        }
      }
    }
  }
}
