import Glibc
import HTTPMessages
import TestOrigin
import Testing
import Transport

/// What is open in a process. Other tests open and close descriptors too, so that those of one server are counted: the
/// connections whose other end is its port.
@Suite(.timeLimit(.minutes(10)))
struct DescriptorTests {
  @Test func nothingStaysOpenAfterManyRequests() async throws {
    let responses: [TestResponse] = [
      TestResponse("hi"), TestResponse("hi").chunked(), TestResponse("hi").untilClose(), .hangUp,
      TestResponse("hi").cut(after: 1), .raw("SSH"), TestResponse(body: .repeated([1], count: nil)),
      TestResponse(status: 304),
    ]
    let server = try TestServer { request in responses[(Int(request.path.dropFirst()) ?? 0) % responses.count] }
    do {
      let transport = Transport.plain()
      for number in 0..<200 {
        let exchange = try? await transport.send(HTTPRequest(url: "\(server.url)/\(number)"))
        _ = try? await exchange?.next()
      }
      #expect(server.count >= 200)
    }
    #expect(connections(to: server.port) == 0)
  }

  private func connections(to port: Int) -> Int {
    (0..<Int32(4096)).count { descriptor in
      var address = sockaddr_in()
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let result = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) }
      }
      return result == 0 && UInt16(bigEndian: address.sin_port) == UInt16(port)
    }
  }
}
