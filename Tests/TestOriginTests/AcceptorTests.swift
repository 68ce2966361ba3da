import CacheBase
import Synchronization
import Testing

@testable import TestOrigin

/// A server outlives the failures of single connections.
@Suite(.timeLimit(.minutes(30))) struct AcceptorTests {
  /// Fails a number of times before it takes connections.
  private final class Failing: Sendable {
    private let left = Atomic(3)

    func accept(_ listener: Int32, number: Int32) -> Int32 {
      guard left.wrappingSubtract(1, ordering: .relaxed).newValue < 0 else {
        errno = number
        return -1
      }
      return CacheBase.accept(listener, nil, nil)
    }
  }

  @Test(arguments: [EINTR, ECONNABORTED, EMFILE, ENFILE, ENOBUFS, ENOMEM])
  func failuresPassAndOnlyTheEndOfTheListenerIsTheEnd(number: Int32) throws {
    let (listener, failing) = (try Descriptor.boundSocket(), Failing())
    try SystemFailure.check("listen", listen(listener.number, 1))
    let acceptor = Acceptor(listener: listener) { failing.accept($0, number: number) }
    let client = try RawClient(port: listener.port)
    let connection = try #require(acceptor.next())
    #expect(Connection(connection).send("hello"))
    #expect(client.text(until: "hello") == "hello")
    listener.shutDown()
    #expect(acceptor.next() == nil)
  }
}
