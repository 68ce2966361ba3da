import Foundation
import Synchronization

/// Serves connections, each on a thread of its own, until it is stopped.
final class Service: Sendable {
  let traffic = Traffic()
  let answers: Answers
  /// The connections that are open; `nil` once the service has stopped.
  private let open = Mutex<[ObjectIdentifier: Connection]?>([:])

  init(_ answers: Answers) { self.answers = answers }

  /// Accepts what comes to `listener` until that is shut down.
  func accept(from listener: Descriptor) {
    Thread.detachNewThread { [self] in
      let acceptor = Acceptor(listener: listener)
      while let descriptor = acceptor.next() { serve(Connection(descriptor, onSend: traffic.send)) }
    }
  }

  /// Ends every connection.
  func stop() {
    let connections = open.withLock { open in
      defer { open = nil }
      return open.map { Array($0.values) } ?? []
    }
    for connection in connections { connection.descriptor.shutDown() }
  }

  private func serve(_ connection: Connection) {
    let isOpen = open.withLock { open in
      open?[ObjectIdentifier(connection)] = connection
      return open != nil
    }
    guard isOpen else { return }
    traffic.connect()
    Thread.detachNewThread { [self] in
      converse(connection)
      open.withLock { _ = $0?.removeValue(forKey: ObjectIdentifier(connection)) }
    }
  }

  private func converse(_ connection: Connection) {
    var reader = RequestReader(connection)
    while let request = reader.next() {
      traffic.begin(request)
      let writer = ResponseWriter(outlet: Outlet(connection), request: request)
      switch writer.write(answers.answer(to: request), atEnd: traffic.end) {
      case .complete: continue
      case .last: return connection.finish()
      case .abandoned: return traffic.abandon()
      }
    }
  }
}
