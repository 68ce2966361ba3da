import Foundation
import CacheBase
import TestOrigin

/// A client that sends exactly the given bytes, and keeps what comes back as it came.
struct RawClient: ~Copyable {
  private let descriptor: Int32
  /// The server lives as long as its client.
  private let server: TestServer?

  /// Connects to a server.
  ///
  /// - Throws: `NoConnection`.
  init(_ server: TestServer) throws { try self.init(port: server.port, server) }

  init(port: Int, _ server: TestServer? = nil) throws {
    self.server = server
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else { throw NoConnection(number: errno) }
  }

  deinit { close(descriptor) }

  /// A connection that could not be made.
  struct NoConnection: Error, Equatable {
    let number: Int32
  }

  /// Sends a text, with the ends of lines as HTTP has them.
  func send(_ text: String) {
    let bytes = Array(text.replacing("\n", with: "\r\n").utf8)
    _ = CacheBase.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
  }

  /// What comes until the server closes the connection.
  func rest() -> String {
    var text: [UInt8] = []
    while case let bytes = receive(65536), !bytes.isEmpty { text += bytes }
    return String(decoding: text, as: UTF8.self)
  }

  /// What comes until it ends with `end`, or the server closes the connection.
  func text(until end: String) -> String {
    var text = ""
    while !text.hasSuffix(end), case let bytes = receive(1), !bytes.isEmpty {
      text += String(decoding: bytes, as: UTF8.self)
    }
    return text
  }

  /// The next bytes, at most `limit`.
  func receive(_ limit: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
      count = max(0, recv(descriptor, buffer.baseAddress, limit, 0))
    }
  }

  /// Sends a request and takes everything until the end of the connection, which the request asks for.
  static func answer(of server: TestServer, to request: String = "GET / HTTP/1.1", _ fields: String...) throws -> String
  {
    let client = try RawClient(server)
    client.send(([request] + fields + ["Connection: close", "", ""]).joined(separator: "\n"))
    return client.rest()
  }

  /// The same on a thread of its own: a task that waits for a server keeps others from running.
  static func answerInBackground(of server: TestServer) -> AsyncStream<String> {
    let (answers, continuation) = AsyncStream.makeStream(of: String.self)
    Thread.detachNewThread {
      continuation.yield((try? answer(of: server)) ?? "no answer")
      continuation.finish()
    }
    return answers
  }
}

extension String {
  /// The content of a message of HTTP: what follows the header.
  var content: Substring { firstRange(of: "\r\n\r\n").map { self[$0.upperBound...] } ?? "" }
}
