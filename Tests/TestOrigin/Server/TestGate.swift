import CTestOrigin
import CacheBase

/// Holds answers back until a test opens it. It opens once, and stays open.
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

  /// Lets every answer go that is held back, and those to come.
  public func open() { _ = write(entry.number, [1], 1) }

  /// Waits until the gate is open.
  ///
  /// - Returns: whether it is; `false` where the peer of `connection` closed it first.
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
