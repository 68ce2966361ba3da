import Foundation
import Synchronization

/// An origin on the loopback interface that holds all answers back until it is released.
final class HeldOrigin: Sendable {
  private static let page = """
    {"resource": "cities", "page": 0, "totalPages": 1, "totalItems": 1, "items": [
      {"id": "KY/LOUISVILLE", "name": "LOUISVILLE", "subName": "KY", "revenue": 12, "organizationCount": 3}]}
    """

  let url: String
  private let listener: Int32
  private let clients = Mutex<(waiting: [Int32], isReleased: Bool, count: Int)>(([], false, 0))

  init() throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isListening = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, size) == 0 && listen(listener, 64) == 0 && getsockname(listener, $0, &size) == 0
      }
    }
    guard isListening else { throw RedisServer.Failure(description: "no origin: errno \(errno)") }
    _ = fcntl(listener, F_SETFD, FD_CLOEXEC)
    self.listener = listener
    url = "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))"
    // The thread holds the object until `close()`.
    Thread.detachNewThread { self.serve() }
  }

  /// How many requests have arrived.
  var count: Int { clients.withLock { $0.count } }

  /// Answers all requests, those that are held and those to come.
  func release() {
    let waiting = clients.withLock { clients in
      defer { clients.waiting = [] }
      clients.isReleased = true
      return clients.waiting
    }
    for client in waiting { answer(client) }
  }

  /// Ends the origin, and lets the clients go that still wait.
  func close() {
    release()
    shutdown(listener, Int32(SHUT_RDWR))
  }

  private func serve() {
    while case let client = accept(listener, nil, nil), client >= 0 {
      _ = fcntl(client, F_SETFD, FD_CLOEXEC)
      // A client sends its request at once, and there are few.
      guard hasRequest(client) else {
        Glibc.close(client)
        continue
      }
      let isReleased = clients.withLock { clients in
        clients.count += 1
        if !clients.isReleased { clients.waiting.append(client) }
        return clients.isReleased
      }
      if isReleased { answer(client) }
    }
    Glibc.close(listener)
  }

  /// Reads a request up to the empty line at its end.
  private func hasRequest(_ client: Int32) -> Bool {
    var request = Data()
    while request.range(of: Data("\r\n\r\n".utf8)) == nil {
      var bytes = [UInt8](repeating: 0, count: 4_096)
      let count = recv(client, &bytes, bytes.count, 0)
      guard count > 0 else { return false }
      request.append(contentsOf: bytes[..<count])
    }
    return true
  }

  private func answer(_ client: Int32) {
    let head = [
      "HTTP/1.1 200 OK", "Content-Type: application/json", "Cache-Control: max-age=600", "Connection: close",
      "Content-Length: \(Self.page.utf8.count)",
    ]
    let bytes = Array((head.joined(separator: "\r\n") + "\r\n\r\n" + Self.page).utf8)
    // The client may have been killed.
    _ = send(client, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    Glibc.close(client)
  }
}
