import HTTPCaching
import TestOrigin
import Testing
import CurlTransport

/// Connections left open.
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
      let service = HTTPTransferService.plain()
      for number in 0..<200 {
        let response = try? await service.transfer(HTTPRequest(url: "\(server.url)/\(number)"))
        _ = try? await response?.rest?.next()
      }
      #expect(server.count >= 200)
    }
    #expect(OpenDescriptors.connections(to: server.port) == 0)
  }
}
