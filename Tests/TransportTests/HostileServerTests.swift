import HTTPMessages
import SeededNumbers
import Synchronization
import TestOrigin
import Testing
import Transport

/// Responses with random damage: each ends as a response or as an error, and what comes after them is unharmed.
@Suite(.timeLimit(.minutes(10)))
struct HostileServerTests {
  private static let responses = [
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nETag: \"a\"\r\n\r\nhello",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n",
    "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 301 Moved\r\nLocation: /\r\nContent-Length: 0\r\n\r\n",
    "HTTP/1.0 401 No\r\nWWW-Authenticate: Basic realm=a\r\nContent-Encoding: gzip\r\n\r\nhello",
  ].map { Array($0.utf8) }

  @Test(arguments: 1...4)
  func damagedResponses(seed: UInt64) async throws {
    let numbers = Mutex(SeededGenerator(seed: seed))
    let server = try TestServer { request in
      request.path == "/sound" ? TestResponse("hello") : numbers.withLock { .raw(bytes: Self.damaged(&$0)) }
    }
    let transport = Transport.plain()
    let kinds: Set<TransportError.Code> = [.cutOff, .invalidMessage, .headTooLarge]
    for _ in 0..<100 {
      do throws(TransportError) {
        let exchange = try await transport.send(HTTPRequest(url: server.url))
        #expect((100...999).contains(exchange.head.status))
        while try await exchange.next() != nil {}
      } catch {
        #expect(kinds.contains(error.code), "\(error)")
      }
    }
    let sound = try await transport.response(to: HTTPRequest(url: server.url + "/sound"), limit: 5)
    #expect(sound.body == Array("hello".utf8))
  }

  private static func damaged(_ numbers: inout SeededGenerator) -> [UInt8] {
    var bytes = numbers.pick(responses)
    for _ in 0...Int.random(in: 0..<4, using: &numbers) where !bytes.isEmpty {
      let place = Int.random(in: bytes.indices, using: &numbers)
      switch Int.random(in: 0..<4, using: &numbers) {
      case 0: bytes[place] = UInt8.random(in: 0...255, using: &numbers)
      case 1: bytes.remove(at: place)
      case 2: bytes.insert(numbers.pick(Array("\r\n :0fF\0".utf8)), at: place)
      default: bytes.removeSubrange(place...)
      }
    }
    return bytes
  }
}
